/** Made-up rounds of work: a question, an answer with a call, its result, a final answer. Each block has a marker of its own words. */
import type { IncomingMessage } from "@strata/core"

const SUBJECTS = "parser cache index socket journal ledger router scheduler widget gateway".split(" ")
const PLACES = "kitchen harbour meadow station library garden bridge market tower valley".split(" ")
const LINES = 120 // of a result

const pick = (list: readonly string[], at: number) => list[at % list.length]!
const spelled = (at: number) => [...String(at)].map((digit) => "abcdefghij"[Number(digit)]).join("")

/** Three words that occur nowhere else. */
const markerOf = (round: number, part: string) =>
  `marker ${part}${spelled(round)} ${pick(SUBJECTS, round)}${spelled(round * 7)} ${pick(PLACES, round)}${spelled(round * 3)}`

export function roundOf(round: number): readonly IncomingMessage[] {
  const id = `toolu_${round}`
  const path = `/work/src/${pick(SUBJECTS, round)}/${pick(PLACES, round * 3)}-${round}.ts`
  const lines = Array.from(
    { length: LINES },
    (_, at) =>
      `${at + 1}  const ${pick(PLACES, at)}${at} = read("${pick(SUBJECTS, at + round)}", ${round * 1_000 + at})`,
  )
  return [
    {
      role: "user",
      content: [{ type: "text", text: `Please look at the ${pick(SUBJECTS, round)} (${markerOf(round, "ask")}).` }],
    },
    {
      role: "assistant",
      content: [
        { type: "text", text: `I read ${path} first (${markerOf(round, "say")}).` },
        { type: "tool_use", id, name: "Read", input: { file_path: path, note: markerOf(round, "call") } },
      ],
    },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: id, content: [...lines, markerOf(round, "result")].join("\n") }],
    },
    { role: "assistant", content: [{ type: "text", text: `It is fine (${markerOf(round, "end")}).` }] },
  ]
}
