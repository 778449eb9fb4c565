/** A small typical request with a response, which a process runs once before the first real one. */
import type { ConversationRequest } from "./plan.ts"

const MODEL = "claude-opus-5-5"
const CALL = { type: "tool_use", id: "toolu_rehearsed", name: "Read", input: { path: "src/index.ts" } }
const MARK = { cache_control: { type: "ephemeral" } }

const BODY = {
  model: MODEL,
  max_tokens: 1_000,
  system: [{ type: "text", text: "You help with code.", ...MARK }],
  tools: [{ name: "Read", description: "Reads a file.", input_schema: { type: "object" } }],
  messages: [
    {
      role: "user",
      content: "<system-reminder>The project is small.</system-reminder>\nWhat does src/index.ts export?",
    },
    { role: "assistant", content: [{ type: "text", text: "I look." }, CALL] },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: CALL.id, content: "export const answer = 42\n", ...MARK }],
    },
  ],
}

export const WARM_UP_RESPONSE = {
  id: "msg_rehearsed",
  type: "message",
  role: "assistant",
  model: MODEL,
  content: [{ type: "text", text: "It exports `answer`." }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 3, cache_creation_input_tokens: 200, cache_read_input_tokens: 0, output_tokens: 9 },
}

export const WARM_UP_REQUEST: ConversationRequest = { client: { name: "a rehearsal", tools: ["Read"] }, body: BODY }
