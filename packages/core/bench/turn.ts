/**
 * One more turn of a long conversation: `add()` a tool result, `prepare()` the request, `record()` the answer. The time must depend on
 * what is new: with 1M tokens in 20,000 messages about the same as with 100K in 2,000.
 *
 *     npm run bench -- turn
 */
import { openConversation } from "@strata/core/internal"
import { inTemporaryDirectory, isShort, milliseconds, quantile } from "./measure.ts"

interface Size {
  readonly name: string
  readonly messages: number
}

const SIZES: readonly Size[] = [
  { name: "100K tokens", messages: 2_000 },
  { name: "1M tokens", messages: 20_000 },
]
const TURNS = isShort ? 100 : 400
const RESULT = "export const answer = (question: string): number => question.length * 42\n".repeat(4) // about 90 tokens

interface Timings {
  readonly add: number[]
  readonly prepare: number[]
  readonly record: number[]
}

async function measureTurns(directory: string, { name, messages }: Size): Promise<Timings> {
  // a wide window, so that this measures the turn and not a full context
  const chat = await openConversation({
    dir: directory,
    cwd: directory,
    id: name.replaceAll(/\W/g, ""),
    model: "claude-opus-4-6",
    settings: { flush: "never", models: { "claude-opus-4-6": { window: 4_000_000 } } },
    env: {},
  })
  const timings: Timings = { add: [], prepare: [], record: [] }
  const step = async (into: number[] | undefined, work: () => Promise<unknown>) => {
    const start = performance.now()
    await work()
    into?.push(performance.now() - start)
  }
  const turn = async (number: number, into?: Timings) => {
    const id = `toolu_${number}`
    const content = [{ type: "tool_use", id, name: "Read", input: { file_path: `/src/file-${number}.ts` } }]
    const usage = { input_tokens: 10, output_tokens: 50, cache_read_input_tokens: number * 100 }
    await step(into?.record, () =>
      chat.record({ id: `msg_${number}`, model: "claude-opus-4-6", content, stop_reason: "tool_use", usage }),
    )
    await step(into?.add, () =>
      chat.add({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content: RESULT }] }),
    )
    if (into) await step(into.prepare, () => chat.prepare())
  }
  await chat.add({ role: "user", content: "Read all files." })
  const [before, warm] = [messages / 2, 20]
  for (let number = 0; number < before; number++) await turn(number)
  for (let number = before; number < before + warm; number++) await turn(number, { add: [], prepare: [], record: [] })
  for (let number = before + warm; number < before + warm + TURNS; number++) await turn(number, timings)
  await chat.close()
  return timings
}

await inTemporaryDirectory(async (directory) => {
  const [small, large] = [await measureTurns(directory, SIZES[0]!), await measureTurns(directory, SIZES[1]!)]
  const whole = ({ add, prepare, record }: Timings) => add.map((ms, i) => ms + prepare[i]! + record[i]!)
  const rows = [
    ["add", small.add, large.add],
    ["prepare", small.prepare, large.prepare],
    ["record", small.record, large.record],
    ["whole turn", whole(small), whole(large)],
  ] as const
  console.log(
    `one more turn, ${TURNS} times: median / p99 at ${SIZES[0]!.name}, at ${SIZES[1]!.name}, ratio of medians`,
  )
  for (const [name, at100K, at1M] of rows) {
    const figures = [at100K, at1M].map(
      (samples) => `${milliseconds(quantile(samples, 0.5))} / ${milliseconds(quantile(samples, 0.99))}`,
    )
    const ratio = quantile(at1M, 0.5) / quantile(at100K, 0.5)
    console.log(`  ${name.padEnd(12)}${figures[0]!.padEnd(22)}${figures[1]!.padEnd(22)}${ratio.toFixed(2)}`)
  }
})
