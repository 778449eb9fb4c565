/** Random conversations for the summariser's properties: calls, results, media, thinking, listings, responses in parts, long texts. */
import fc from "fast-check"
import type { Block } from "../src/messages/blocks.ts"
import type { Message } from "../src/messages/messages.ts"
import { conversation } from "./builders.ts"

export const image: Block = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } }
export const pdf: Block = {
  type: "document",
  source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
}

const LINE = "const answer = 42 // 😀 the line that is repeated\n"

const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("fix it", "$& {{range}}", "</summary>", "日本語 😀", "  ", "") },
  { weight: 2, arbitrary: fc.string({ maxLength: 60, unit: "grapheme" }) },
  { weight: 2, arbitrary: fc.nat(600).map((times) => LINE.repeat(times)) },
)
const server: Block[] = [
  { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } },
  { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
]

type Step = (builder: ReturnType<typeof conversation>, at: number) => unknown

const step: fc.Arbitrary<Step> = fc.oneof(
  text.map(
    (value): Step =>
      (builder) =>
        builder.user(value),
  ),
  text.map(
    (value): Step =>
      (builder) =>
        builder.user([image, { type: "text", text: value }, pdf]),
  ),
  text.map(
    (value): Step =>
      (builder) =>
        builder.say(value),
  ),
  text.map(
    (value): Step =>
      (builder) =>
        builder.call("Write", { file_path: "/a.ts", content: value, parts: [value] }),
  ),
  fc.constantFrom<Step>((builder) => builder.call("not a name", {})),
  text.map(
    (value): Step =>
      (builder) =>
        builder.result(value),
  ),
  text.map(
    (value): Step =>
      (builder) =>
        builder.result([{ type: "text", text: value }, image]),
  ),
  text.map(
    (value): Step =>
      (builder, at) =>
        builder.say(value, { id: `msg_${at % 4}` }),
  ),
  fc.constantFrom<Step>(
    (builder) => builder.respond([{ type: "thinking", thinking: "hm", signature: "s" }]),
    (builder) => builder.respond(server),
    (builder) => builder.respond([server[0]!], { stop_reason: "pause_turn" }),
    (builder) => builder.attach({ type: "skill_listing", skills: [{ name: "secret-skill" }] }),
    (builder) => builder.attach({ type: "todo_list", todos: [{ content: "test", status: "pending" }] }),
    (builder) => builder.progress(),
    (builder) => builder.user("an earlier summary", { isCompactSummary: true }),
  ),
)

export const randomConversation: fc.Arbitrary<readonly Message[]> = fc
  .array(step, { minLength: 1, maxLength: 30 })
  .map((steps) => {
    const builder = conversation()
    for (const [at, take] of steps.entries()) take(builder, at)
    return builder.messages
  })
