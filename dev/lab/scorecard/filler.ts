/** Talk and work without facts. */
import { randomFrom } from "../memory-questions/random.ts"
import type { Exchange } from "../planted/work.ts"
import { exchangeMessages } from "./corpora/planted.ts"
import { assistant, type PlainMessage, user } from "./session.ts"

const REMARKS = [
  "Let us go through the folders of the import service once more.",
  "The retries wait twice as long each time, up to half a minute.",
  "We talked about the cache headers of the picture route last week.",
  "A small check of the status page after each deploy would be useful.",
  "The helper that lists all rows got a clearer name on Monday.",
  "The load test was calm, without a single error on the small cluster.",
  "The draft about outgoing hooks still has an open section.",
  "One library is pinned, since the imaging code needs the older one.",
  "The team likes the two latency charts next to each other.",
  "Yesterday was about the schema, today is about tests.",
  "The list for new colleagues is mostly about accounts.",
  "The queue puts a message aside after the third failure.",
]

/** Remarks of the user with a short answer each. */
export const remarks = (count: number, from: number): readonly PlainMessage[] =>
  Array.from({ length: count }, (_, at) => [
    user(REMARKS[(from + at) % REMARKS.length]!),
    assistant("Understood. I go on with the plan."),
  ]).flat()

const LINES = 40 // in each result
const NOUNS =
  "basin cedar delta ember fjord grove heron inlet jetty knoll ledge marsh notch orbit prism quarry ridge spruce tundra vale".split(
    " ",
  )

/** Exchanges with tools. Each result is full of names that occur nowhere else, as in files, logs and searches. */
export const work = (count: number, from: number): readonly PlainMessage[] =>
  Array.from({ length: count }, (_, at) => exchangeMessages(workExchange(from + at))).flat()

function workExchange(nth: number): Exchange {
  const random = randomFrom(7_000 + nth)
  const noun = () => random.pick(NOUNS)
  const kind = random.pick(KINDS)
  const subject = `${noun()} ${noun()}`
  const { tool, input, line } = kind({ noun, number: (below) => random.below(below) }, nth)
  return {
    asks: [{ type: "text", text: `Next is the ${subject}: see whether anything is wrong there.` }],
    answers: [{ type: "tool_use", id: `toolu_work_${nth}`, name: tool, input }],
    result: { content: Array.from({ length: LINES }, (_, at) => line(at)).join("\n") },
    ends: `The ${subject} is in order.`,
  }
}

interface Words {
  readonly noun: () => string
  readonly number: (below: number) => number
}

type Kind = (
  words: Words,
  nth: number,
) => { readonly tool: string; readonly input: object; readonly line: (at: number) => string }

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)

const KINDS: readonly Kind[] = [
  ({ noun, number }, nth) => ({
    ...{ tool: "Read", input: { file_path: `/repo/src/${noun()}/${noun()}-${nth}.ts` } },
    line: () =>
      `export const ${noun()}${capital(noun())}${number(9_000)} = ${noun()}_${number(9_000)}(${number(500)}, "${noun()}-${number(99)}")`,
  }),
  ({ noun, number }, nth) => ({
    ...{ tool: "Bash", input: { command: `./service.sh logs --tail ${LINES} ${noun()}-${nth}` } },
    line: (at) =>
      `08:${String(at).padStart(2, "0")}:${10 + number(50)} INFO ${noun()} job_${(number(2 ** 30) + 2 ** 30).toString(16)} done in ${number(900)} ms`,
  }),
  ({ noun, number }, nth) => ({
    ...{ tool: "Grep", input: { pattern: `${noun()}.*${noun()}`, path: `/repo/part-${nth}` } },
    line: (at) => `src/${noun()}/${noun()}-${number(900)}.ts:${at * 7 + 3}: use ${noun()}_${noun()}_${number(9_000)}`,
  }),
]
