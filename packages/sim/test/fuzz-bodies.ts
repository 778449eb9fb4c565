/** Valid bodies that together use all features of the API. The fuzzer starts from them. */

const text = (words: string, more: object = {}) => ({ type: "text", text: words, ...more })
const toolUse = (id: string) => ({ type: "tool_use", id, name: "look", input: { at: 1, deep: { list: [1, 2] } } })
const toolResult = (id: string) => ({ type: "tool_result", tool_use_id: id, content: [text("seen")] })
const marked = { cache_control: { type: "ephemeral", ttl: "1h" } }
const thinking = { type: "thinking", thinking: "hm", signature: "c2ln.bmF0dXJl" }
const TOOLS = [
  { name: "look", description: "Looks", input_schema: { type: "object", properties: { at: { type: "number" } } } },
  { type: "memory_20250818", name: "memory" },
  { type: "web_search_20250305", name: "web_search", max_uses: 3 },
]
const ONE_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

const plain = {
  model: "claude-opus-5",
  max_tokens: 200,
  messages: [{ role: "user", content: "Hello" }],
}

const withTools = {
  ...plain,
  system: [text("Be brief"), text("stone ".repeat(600), marked)],
  tools: TOOLS,
  tool_choice: { type: "auto", disable_parallel_tool_use: true },
  messages: [
    { role: "user", content: "Look" },
    { role: "assistant", content: [text("I will"), toolUse("toolu_1"), toolUse("toolu_2")] },
    { role: "user", content: [toolResult("toolu_1"), toolResult("toolu_2"), text("Well?", marked)] },
    { role: "assistant", content: [text("So far"), toolUse("toolu_3")] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_3", content: "stone ".repeat(500) }] },
  ],
}

export const VALID_BODIES: readonly object[] = [
  plain,
  { ...plain, stream: true, stop_sequences: ["you"], metadata: { user_id: "u" }, service_tier: "auto" },
  { ...plain, max_tokens: 0, cache_control: { type: "ephemeral" } },
  withTools,
  { ...withTools, stream: true, cache_control: { type: "ephemeral", ttl: "1h" } },
  {
    ...withTools,
    context_management: {
      edits: [
        { type: "clear_thinking_20251015", keep: { type: "thinking_turns", value: 1 } },
        {
          type: "clear_tool_uses_20250919",
          trigger: { type: "tool_uses", value: 1 },
          keep: { type: "tool_uses", value: 1 },
          clear_at_least: { type: "input_tokens", value: 1 },
          exclude_tools: ["wait"],
          clear_tool_inputs: true,
        },
        { type: "compact_20260112", trigger: { type: "input_tokens", value: 50_000 }, pause_after_compaction: false },
      ],
    },
  },
  { ...withTools, compaction: { type: "summarize", instructions: "Be brief" } },
  {
    ...plain,
    model: "claude-opus-5-5",
    thinking: { type: "adaptive", display: "omitted", block_binding: { prefix_mismatch_behavior: "drop_block" } },
    output_config: { effort: "low" },
    diagnostics: { previous_message_id: "msg_1" },
  },
  {
    ...plain,
    model: "claude-sonnet-4-5",
    max_tokens: 3000,
    thinking: { type: "enabled", budget_tokens: 1024 },
    messages: [
      { role: "user", content: "Think" },
      { role: "assistant", content: [thinking, text("So.")] },
      { role: "user", content: "Again" },
    ],
  },
  {
    ...plain,
    messages: [
      { role: "assistant", content: [{ type: "compaction", content: "We talked.", encrypted_content: null }] },
      { role: "user", content: "And now?" },
      { role: "system", content: [text("Be brief")] },
    ],
  },
  {
    ...plain,
    messages: [
      {
        role: "user",
        content: [
          { type: "image", source: { type: "base64", media_type: "image/png", data: ONE_PIXEL } },
          { type: "image", source: { type: "url", url: "http://localhost/a.png" } },
          { type: "document", source: { type: "text", media_type: "text/plain", data: "words" }, title: "A page" },
          { type: "document", source: { type: "content", content: [text("words")] }, citations: { enabled: true } },
          { type: "search_result", source: "here", title: "Found", content: [text("words")] },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "stones" } },
          { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
          text("Found.", { citations: null }),
        ],
      },
      { role: "user", content: [text("Thanks")] },
    ],
  },
  {
    ...withTools,
    messages: [
      { role: "user", content: "Look" },
      { role: "assistant", content: [toolUse("toolu_1")] },
      { role: "user", content: [toolResult("toolu_1")] },
      { role: "assistant", content: "Seen" },
      {
        role: "user",
        content: [{ type: "cache_edits", edits: [{ type: "delete", cache_reference: "toolu_1" }] }, text("Go on")],
      },
    ],
  },
]
