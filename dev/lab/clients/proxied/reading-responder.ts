/**
 * A model that reads the given number of files for each prompt and then reports what it saw. It thinks before each call. The responder
 * itself tracks which file comes next, so a client that compacts, forks or resumes does the same work.
 */
import { createHash } from "node:crypto"
import { type Answer, extractiveAnswer, type Responder, type ResponderBlock, type ResponderRequest } from "@strata/sim"

export const PART_CHARACTERS = 24_000 // below the size that coding agents cut from the output of a command
export const PORT = "The port is 4711."

/** Matches a phrase of Strata's own summary requests. */
export const OURS = /Do not call a tool: the call would not run/
/** Matches the phrases with which clients request a summary. */
const CLIENTS = /\b(?:create|provide|write|produce|update)\b[^.\n]{0,80}\b(?:summary|checkpoint)\b/i

export interface ReadingResponder extends Responder {
  /** Sets the number of calls for the next prompt. */
  begin(calls: number): void
  /** Number of requested summaries, by who requested them. */
  readonly summaries: { readonly client: number; readonly ours: number }
}

export function readingResponder(): ReadingResponder {
  let part = 0
  let left = 0
  let reads = 0
  const summaries = { client: 0, ours: 0 }
  return {
    name: "reading",
    summaries,
    begin(calls) {
      left = calls
      reads = calls
    },
    answer(turn): Answer {
      const { request } = turn
      const asked = lastTexts(request)
      const isOurs = asked.some((text) => OURS.test(text))
      if (isOurs || asked.some((text) => text.length > 500 && CLIENTS.test(text))) {
        summaries[isOurs ? "ours" : "client"]++
        const summary = extractiveAnswer({ ...turn, summary: { instructions: asked.at(-1) ?? "" } })
        return summary ?? { content: [{ type: "text", text: "<summary>The parts were read one by one.</summary>" }] }
      }
      const tool = request.tools?.find(({ name }) => /^bash$/i.test(name))
      if (!tool || isWarmUp(request)) return { content: [{ type: "text", text: "Reading parts" }] }
      const thinking = { type: "thinking", thinking: `Part ${part} of the work.` } as const
      if (left === 0) return { content: [thinking, { type: "text", text: whatWasSeen(request, reads) }] }
      left--
      part++
      const input = { command: `cat ${partName(part)}`, description: `Reads part ${part}` }
      const call = { type: "tool_use", id: turn.nextToolUseId(), name: tool.name, input } as const
      return { content: [thinking, { type: "text", text: `Now part ${part}.` }, call] }
    },
  }
}

/** The distinct answers of a run, as its client prints them. */
export const answersIn = (stdout: string): readonly string[] => [...new Set(stdout.match(/ANSWER\[[\w ,]*\]/g) ?? [])]

export const partName = (part: number): string => `part-${part}.txt`

export const PARTS: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from({ length: 120 }, (_, at) => [partName(at + 1), partText(at + 1)]),
)

function partText(part: number): string {
  let state = part * 7919
  let text = `Part ${part}\n`
  while (text.length < PART_CHARACTERS) {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    text += `function item_${state % 100_000}(value: number) { return value * ${state % 97} } // ${state % 13}\n`
  }
  return `${text.slice(0, PART_CHARACTERS)}\n`
}

/** The result depends on what the model was sent: the newest tool result, byte for byte, and a fact of the first prompt. */
function whatWasSeen({ messages }: ResponderRequest, reads: number): string {
  const results = messages.flatMap(({ content }) => content.filter(({ type }) => type === "tool_result"))
  const digest = createHash("sha256")
    .update(textOf(results.at(-1)))
    .digest("hex")
    .slice(0, 12)
  const isKnown = JSON.stringify(messages).includes(PORT)
  return `ANSWER[${reads} parts, the last ${digest}, port ${isKnown ? "4711" : "unknown"}]`
}

export function textOf(block: ResponderBlock | undefined): string {
  const { content = "", text } = block ?? {}
  const whole = text ?? (typeof content === "string" ? content : content.map(textOf).join(""))
  return whole.replaceAll(/<system-reminder>[\s\S]*?<\/system-reminder>/g, "").trim()
}

export function lastTexts({ messages }: ResponderRequest): readonly string[] {
  const last = messages.findLast(({ role }) => role === "user")
  return (last?.content ?? []).flatMap(({ type, text }) => (type === "text" && text !== undefined ? text : []))
}

/** Claude Code 2.0 sends each kind of sub-agent an empty request to warm it up. */
const isWarmUp = ({ messages }: ResponderRequest): boolean =>
  messages[0]?.content.some(({ text }) => text === "Warmup") ?? false
