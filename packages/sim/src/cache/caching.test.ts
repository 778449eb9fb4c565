/** Caching over HTTP: what a prefix consists of, what invalidates it, and which usage is reported. */
import { describe, expect, test } from "vitest"
import { client, hello, post, postJson, type RawOptions, scripted, simulator } from "../../test/simulator.ts"
import type { Simulator } from "../start.ts"
import { countText, MESSAGE_TOKENS, TOOL_INSTRUCTIONS_TOKENS } from "../tokens.ts"

const marked = { cache_control: { type: "ephemeral" } }
const markedFor1h = { cache_control: { type: "ephemeral", ttl: "1h" } }
const words = (count: number, word = "stone") => Array.from({ length: count }, () => word).join(" ")
const RULES = words(600) // more than the 512 tokens that claude-opus-5 needs
const TOOLS = [{ name: "look", description: words(600, "view"), input_schema: { type: "object" } }]

interface Spent {
  readonly read: number
  readonly written: number
  readonly plain: number
}

async function spend(sim: Simulator, body: object, options?: RawOptions): Promise<Spent> {
  const { usage } = await postJson(sim, body, options)
  return {
    read: usage.cache_read_input_tokens,
    written: usage.cache_creation_input_tokens,
    plain: usage.input_tokens,
  }
}

const ruled = (more: object = {}) => hello({ system: [{ type: "text", text: RULES, ...marked }], ...more })

describe("BEY-8 caching in requests", () => {
  test("the first request writes the system prompt, the second reads it", async () => {
    const sim = await simulator()
    const system = countText(RULES)
    const rest = MESSAGE_TOKENS + countText("Hello")
    expect(await spend(sim, ruled())).toEqual({ read: 0, written: system, plain: rest })
    expect(await spend(sim, ruled())).toEqual({ read: system, written: 0, plain: rest })
  })

  test("usage splits writes by lifetime", async () => {
    const sim = await simulator()
    const { usage } = await client(sim).messages.create({
      ...hello(),
      system: [{ type: "text", text: RULES, cache_control: { type: "ephemeral", ttl: "1h" } }],
      messages: [{ role: "user", content: [{ type: "text", text: "Hello", cache_control: { type: "ephemeral" } }] }],
    })
    const [system, message] = [countText(RULES), MESSAGE_TOKENS + countText("Hello")]
    expect(usage).toMatchObject({
      input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: system + message,
      cache_creation: { ephemeral_1h_input_tokens: system, ephemeral_5m_input_tokens: message },
    })
  })

  test("after five minutes the 5m entry is gone, after an hour the 1h entry", async () => {
    const sim = await simulator()
    await spend(sim, ruled())
    sim.clock.advance(5 * 60_000)
    expect(await spend(sim, ruled())).toMatchObject({ read: 0 })

    const lasting = hello({ system: [{ type: "text", text: `${RULES}!`, ...markedFor1h }] })
    await spend(sim, lasting)
    sim.clock.advance(59 * 60_000)
    expect((await spend(sim, lasting)).read).toBeGreaterThan(500)
    sim.clock.advance(60 * 60_000)
    expect(await spend(sim, lasting)).toMatchObject({ read: 0 })
  })

  test("the minimum is the model's: 600 tokens are enough for one, not for the other", async () => {
    const sim = await simulator()
    expect((await spend(sim, ruled({ model: "claude-opus-5" }))).written).toBeGreaterThan(0) // the minimum is 512 tokens
    expect(await spend(sim, ruled({ model: "claude-opus-4-8" }))).toMatchObject({ read: 0, written: 0 }) // the minimum is 1,024 tokens
  })

  test("each model and each workspace has its own cache", async () => {
    const sim = await simulator()
    await spend(sim, ruled())
    expect(await spend(sim, ruled({ model: "claude-fable-5" }))).toMatchObject({ read: 0 })
    expect(await spend(sim, ruled(), { headers: { "anthropic-workspace-id": "wrkspc_2" } })).toMatchObject({ read: 0 })
    expect((await spend(sim, ruled())).read).toBeGreaterThan(0)
  })

  test("automatic caching marks the last block, and moves with it", async () => {
    const sim = await simulator()
    const turn = (...contents: string[]) =>
      hello({
        ...marked,
        messages: contents.map((content, index) => ({ role: index % 2 ? "assistant" : "user", content })),
      })
    const size = (text: string) => MESSAGE_TOKENS + countText(text)
    expect(await spend(sim, turn(RULES))).toEqual({ read: 0, written: size(RULES), plain: 0 })
    const added = size("Yes.") + size("And now?")
    expect(await spend(sim, turn(RULES, "Yes.", "And now?"))).toEqual({ read: size(RULES), written: added, plain: 0 })
  })

  test("parallel requests both write", async () => {
    const bothAsked = Promise.withResolvers<void>()
    let asked = 0
    const answer = async () => {
      if (++asked === 2) bothAsked.resolve()
      await bothAsked.promise
      return { content: [{ type: "text" as const, text: "Hi" }] }
    }
    const sim = await simulator({ responder: { name: "waits for the second request", answer } })
    const both = Promise.all([spend(sim, ruled()), spend(sim, ruled())])
    for (const spent of await both) expect(spent).toMatchObject({ read: 0, written: countText(RULES) })
    expect(await spend(sim, ruled())).toMatchObject({ read: countText(RULES), written: 0 })
  })

  test("if anything is marked, results of server tools are cached too", async () => {
    const sim = await simulator()
    const found = [
      { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "stones" } },
      { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
    ]
    const searched = (body: object) => ({
      ...body,
      messages: [
        { role: "user", content: "Search" },
        { role: "assistant", content: [...found, { type: "text", text: "Found." }] },
        { role: "user", content: "Thanks" },
      ],
    })
    const rest = (text: string) => MESSAGE_TOKENS + countText(text)
    const plain = countText("Found.") + rest("Thanks") // everything after the result
    const { written } = await spend(sim, searched(ruled()))
    expect(await spend(sim, searched(ruled()))).toEqual({ read: written, written: 0, plain })
    expect((await spend(sim, searched(hello({ system: RULES })))).written).toBe(0) // without a breakpoint, nothing is written
  })

  test("max_tokens 0 fills the cache and returns no content", async () => {
    const sim = await simulator({ responder: scripted("never sent") })
    const message = await postJson(sim, ruled({ max_tokens: 0 }))
    expect(message).toMatchObject({ content: [], stop_reason: "max_tokens", usage: { output_tokens: 0 } })
    expect(message.usage.cache_creation_input_tokens).toBe(countText(RULES))
    expect(await spend(sim, ruled())).toMatchObject({ read: countText(RULES), written: 0 })
  })

  test("a failed request leaves nothing in the cache", async () => {
    const sim = await simulator({ faults: [{ fault: { kind: "overloaded" }, nth: 1 }] })
    expect((await post(sim, ruled())).status).toBe(529)
    expect(await spend(sim, ruled())).toMatchObject({ read: 0, written: countText(RULES) })
  })
})

describe("BEY-8 what invalidates the cache", () => {
  /** A request with breakpoints at the end of tools, system and messages. */
  const everything = (more: object = {}) => ({
    ...hello(),
    tools: [{ ...TOOLS[0], ...marked }],
    system: [{ type: "text", text: RULES, ...marked }],
    messages: [{ role: "user", content: [{ type: "text", text: "Hello", ...marked }] }],
    ...more,
  })
  const { cache_control: _, ...toolSent } = everything().tools[0] as Record<string, unknown>
  const TOOL_SIZE = TOOL_INSTRUCTIONS_TOKENS + 12 + countText(JSON.stringify(toolSent))
  const SYSTEM_SIZE = countText(RULES)
  const ALL = TOOL_SIZE + SYSTEM_SIZE + MESSAGE_TOKENS + countText("Hello")
  const ONE_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
  const withImage = [
    {
      role: "user",
      content: [
        { type: "text", text: "Hello", ...marked },
        { type: "image", source: { type: "base64", media_type: "image/png", data: ONE_PIXEL } },
      ],
    },
  ]

  const withCitations = [
    {
      role: "user",
      content: [
        { type: "text", text: "Hello", ...marked },
        {
          type: "document",
          source: { type: "text", media_type: "text/plain", data: "x" },
          citations: { enabled: true },
        },
      ],
    },
  ]

  test.each([
    { change: "nothing", body: {}, read: ALL },
    { change: "the definition of a tool", body: { tools: [{ ...TOOLS[0], description: "else", ...marked }] }, read: 0 },
    { change: "speed", body: { speed: "fast" }, read: TOOL_SIZE },
    { change: "asking for citations", body: { messages: withCitations }, read: TOOL_SIZE },
    { change: "the system prompt", body: { system: [{ type: "text", text: "else", ...marked }] }, read: TOOL_SIZE },
    { change: "tool_choice", body: { tool_choice: { type: "none" } }, read: TOOL_SIZE + SYSTEM_SIZE },
    {
      change: "disable_parallel_tool_use",
      body: { tool_choice: { type: "auto", disable_parallel_tool_use: true } },
      read: TOOL_SIZE + SYSTEM_SIZE,
    },
    { change: "adding an image", body: { messages: withImage }, read: TOOL_SIZE + SYSTEM_SIZE },
    { change: "thinking", body: { thinking: { type: "disabled" } }, read: TOOL_SIZE + SYSTEM_SIZE },
    { change: "effort", body: { output_config: { effort: "low" } }, read: TOOL_SIZE + SYSTEM_SIZE },
    { change: "tool_choice set to its default", body: { tool_choice: { type: "auto" } }, read: ALL },
    { change: "thinking set to its default", body: { thinking: { type: "adaptive" } }, read: ALL },
    { change: "effort set to its default", body: { output_config: { effort: "high" } }, read: ALL },
    { change: "max_tokens", body: { max_tokens: 7 }, read: ALL },
    { change: "metadata", body: { metadata: { user_id: "u" } }, read: ALL },
  ])("$change → $read tokens are read", async ({ body, read }) => {
    const sim = await simulator()
    expect((await spend(sim, everything())).written).toBe(ALL)
    expect((await spend(sim, everything(body))).read).toBe(read)
  })

  test("key order inside a tool's input matters", async () => {
    const sim = await simulator()
    const called = (input: object) => ({
      ...ruled(),
      messages: [
        { role: "user", content: "Look" },
        { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "look", input }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "seen", ...marked }] },
      ],
    })
    const all = (await spend(sim, called({ a: 1, b: 2 }))).written
    expect((await spend(sim, called({ a: 1, b: 2 }))).read).toBe(all)
    expect((await spend(sim, called({ b: 2, a: 1 }))).read).toBe(countText(RULES))
  })

  test("a model that drops old thinking misses from there after a user message", async () => {
    const thinking = { type: "thinking", thinking: "hm", signature: "" }
    const sim = await simulator({
      responder: scripted([
        { type: "thinking", thinking: "I will look" },
        { type: "tool_use", id: "toolu_1", name: "look", input: {} },
      ]),
    })
    const model = "claude-sonnet-4-5"
    const base = {
      ...ruled({ model, max_tokens: 2000 }),
      thinking: { type: "enabled", budget_tokens: 1024 },
      system: [{ type: "text", text: words(1100), ...marked }],
    }
    const ask = { role: "user", content: "Look" }
    const { content } = await postJson(sim, { ...base, messages: [ask] })
    expect(content[0]).toMatchObject({ type: thinking.type })
    const result = { type: "tool_result", tool_use_id: "toolu_1", content: "seen", ...marked }
    const round = [ask, { role: "assistant", content }, { role: "user", content: [result] }]
    const { read, written } = await spend(sim, { ...base, messages: round })
    const again = await spend(sim, { ...base, messages: round })
    expect(again.read).toBe(read + written)
    const spoken = [...round, { role: "assistant", content: "Seen." }, { role: "user", content: "Thanks" }]
    expect((await spend(sim, { ...base, messages: spoken })).read).toBe(countText(words(1100)))
  })

  test("an appended system message does not invalidate", async () => {
    const sim = await simulator()
    const { written } = await spend(sim, everything())
    const messages = [...everything().messages, { role: "system", content: "Be brief" }]
    expect((await spend(sim, everything({ messages }))).read).toBe(written)
  })
})

describe("BEY-8 the billing block of Claude Code, before the system prompt", () => {
  const billed = (cch: string, messages: object[] = hello().messages) =>
    hello({
      model: "claude-opus-5-5",
      messages,
      system: [
        {
          type: "text",
          text: `x-anthropic-billing-header: cc_version=2.1.150.a1b; cc_entrypoint=sdk-cli; cch=${cch};`,
        },
        { type: "text", text: RULES, ...marked },
      ],
    })

  test("another value in each request: the prompt is read all the same, and the block has no tokens", async () => {
    const sim = await simulator()
    const plain = MESSAGE_TOKENS + countText("Hello")
    expect(await spend(sim, billed("1f2e3"))).toEqual({ read: 0, written: countText(RULES), plain })
    expect(await spend(sim, billed("4d5c6"))).toEqual({ read: countText(RULES), written: 0, plain })
  })

  test("thinking is not bound to it", async () => {
    const sim = await simulator({
      responder: scripted([
        { type: "thinking", thinking: "Hm" },
        { type: "text", text: "Hi" },
      ]),
    })
    const { content } = await postJson(sim, billed("1f2e3"))
    const next = [...hello().messages, { role: "assistant", content }, { role: "user", content: "Go on" }]
    expect(await postJson(sim, billed("4d5c6", next))).toMatchObject({ type: "message" })
  })

  test("a server that does not know it takes it for a part of the prompt", async () => {
    const sim = await simulator({ billingInPrompt: true })
    await spend(sim, billed("1f2e3"))
    expect(await spend(sim, billed("4d5c6"))).toMatchObject({ read: 0 })
    expect((await spend(sim, billed("4d5c6"))).read).toBeGreaterThan(countText(RULES))
  })
})

describe("BEY-8 cache diagnostics", () => {
  const asking = (previous_message_id: string, more: object = {}) =>
    ruled({ diagnostics: { previous_message_id }, ...more })

  test("says what changed and how many tokens that cost", async () => {
    const sim = await simulator()
    const { id } = await postJson(sim, ruled())
    const reason = async (more: object) => (await postJson(sim, asking(id, more))).diagnostics?.cache_miss_reason
    const all = countText(RULES) + MESSAGE_TOKENS + countText("Hello")
    expect(await reason({ model: "claude-fable-5" })).toEqual({ type: "model_changed", cache_missed_input_tokens: all })
    expect(await reason({ tools: TOOLS })).toEqual({ type: "tools_changed", cache_missed_input_tokens: all })
    expect(await reason({ system: "else" })).toEqual({ type: "system_changed", cache_missed_input_tokens: all })
    expect(await reason({ messages: [{ role: "user", content: "Bye" }] })).toEqual({
      type: "messages_changed",
      cache_missed_input_tokens: MESSAGE_TOKENS + countText("Hello"),
    })
  })

  test("is silent if a request continues the earlier one, and says if that is unknown", async () => {
    const sim = await simulator()
    const { id } = await postJson(sim, ruled())
    const messages = [...hello().messages, { role: "assistant", content: "Hi" }, { role: "user", content: "Go on" }]
    expect((await postJson(sim, asking(id, { messages }))).diagnostics).toBeNull()
    expect((await postJson(sim, asking("msg_unknown"))).diagnostics).toEqual({
      cache_miss_reason: { type: "previous_message_not_found" },
    })
  })
})
