/**
 * One more turn of a long conversation on disk, with default settings but for the planner: `add()` a tool result, `prepare()` the request, `record()` the answer.
 * The time must depend on what is new, so it is measured at several sizes, above the warning threshold, and where the server's cache is lost.
 *
 * Stretches of 100 turns take turns between the sizes. Each starts from its own copy, so all turns of a row have about the same size.
 *
 *     npm run bench -- turn
 */
import { cpSync, rmSync } from "node:fs"
import { join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { localPerson } from "@strata/core"
import { openConversation } from "@strata/core/internal/front-door"
import { inTemporaryDirectory, isShort, milliseconds, quantile } from "./measure.ts"

const MODEL = "claude-opus-4-6"
const TOKENS_PER_TURN = 100 // as the responses report it
const STRETCH = 100 // turns
const STRETCHES = isShort ? 1 : 10
const WIDE_WINDOW = 4_000_000 // no threshold is near
const ABOVE_WARNING = 51_000 // tokens of window beyond the size: 2K above the warning threshold, 18K below the limit
const ALWAYS_READ = 5_000 // tokens that the server still has after it lost the rest
const RESULT = "export const answer = (question: string): number => question.length * 42\n".repeat(4) // about 90 tokens

type Path = "far from full" | "above the warning" | "after a lost cache"

interface Row {
  readonly path: Path
  readonly sizes: readonly [number, number]
}

const ROWS: readonly Row[] = [
  { path: "far from full", sizes: [100_000, 1_000_000] },
  { path: "far from full", sizes: [150_000, 1_200_000] },
  { path: "above the warning", sizes: [150_000, 1_200_000] },
  { path: "after a lost cache", sizes: [150_000, 1_200_000] },
]
const SIZES = [...new Set(ROWS.flatMap(({ sizes }) => sizes))].toSorted((a, b) => a - b)

type Chat = Awaited<ReturnType<typeof openConversation>>

interface Timings {
  readonly add: number[]
  readonly prepare: number[]
  readonly record: number[]
}

const noTimings = (): Timings => ({ add: [], prepare: [], record: [] })

const name = (tokens: number) => (tokens < 1_000_000 ? `${tokens / 1_000}K` : `${tokens / 1_000_000}M`)

const open = (root: string, { window, flush }: { window: number; flush?: "never" }): Promise<Chat> =>
  openConversation({
    dir: join(root, "data"),
    cwd: "/project",
    id: "bench",
    memory: { owner: localPerson },
    model: MODEL,
    // the planner would compact conversations of this size, and then they would be short
    settings: { ...(flush ? { flush } : {}), planner: "off", models: { [MODEL]: { window } } },
    env: {},
  })

/** What the API reports for a turn: all that was left in the cache is read, or nearly nothing of it. */
function usageOf(number: number, isLost: boolean) {
  const cached = number * TOKENS_PER_TURN
  const read = isLost ? Math.min(cached, ALWAYS_READ) : cached
  const written = cached - read + TOKENS_PER_TURN
  return { input_tokens: 10, output_tokens: 50, cache_read_input_tokens: read, cache_creation_input_tokens: written }
}

/** The response that calls a tool, then its result. */
function turnOf(number: number, isLost = false) {
  const id = `toolu_${number}`
  return {
    response: {
      id: `msg_${number}`,
      model: MODEL,
      content: [{ type: "tool_use" as const, id, name: "Read", input: { file_path: `/src/file-${number}.ts` } }],
      stop_reason: "tool_use",
      usage: usageOf(number, isLost),
    },
    result: {
      role: "user" as const,
      content: [{ type: "tool_result" as const, tool_use_id: id, content: RESULT }],
    },
  }
}

/** A directory for each size. The conversation grows from one to the next. */
async function build(directory: string): Promise<void> {
  const growing = join(directory, "growing")
  let number = 0
  for (const size of SIZES) {
    const chat = await open(growing, { window: WIDE_WINDOW, flush: "never" })
    if (number === 0) await chat.add("Read all files.")
    for (; number < size / TOKENS_PER_TURN; number++) {
      const { response, result } = turnOf(number)
      await chat.record(response)
      await chat.add(result)
    }
    await chat.close()
    cpSync(growing, join(directory, name(size)), { recursive: true })
  }
}

async function stretch(directory: string, { size, path }: { size: number; path: Path }, into: Timings): Promise<void> {
  const copy = join(directory, "copy")
  cpSync(join(directory, name(size)), copy, { recursive: true })
  const chat = await open(copy, { window: path === "above the warning" ? size + ABOVE_WARNING : WIDE_WINDOW })
  const first = size / TOKENS_PER_TURN
  await chat.prepare()
  collectGarbage() // of the stretches before
  for (let number = first; number < first + STRETCH; number++) {
    const { response, result } = turnOf(number, path === "after a lost cache")
    const start = performance.now()
    await chat.record(response)
    const recorded = performance.now()
    await chat.add(result)
    const added = performance.now()
    await chat.prepare()
    into.prepare.push(performance.now() - added)
    into.add.push(added - recorded)
    into.record.push(recorded - start)
  }
  const { state } = chat.fill()
  if ((state === "warning") !== (path === "above the warning")) throw new Error(`${path}: the state is "${state}"`)
  await chat.close()
  rmSync(copy, { recursive: true })
}

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void

const whole = ({ add, prepare, record }: Timings) => add.map((ms, i) => ms + prepare[i]! + record[i]!)

function print({ path, sizes }: Row, small: Timings, large: Timings): void {
  console.log(
    `${path}, ${small.add.length} turns: median / p99 / slowest at ${sizes.map(name).join(", at ")}; ratio of medians`,
  )
  const parts = [
    ["add", small.add, large.add],
    ["prepare", small.prepare, large.prepare],
    ["record", small.record, large.record],
    ["whole turn", whole(small), whole(large)],
  ] as const
  for (const [part, ...samples] of parts) {
    const figures = samples.map((each) =>
      [0.5, 0.99, 1].map((share) => milliseconds(quantile(each, share))).join(" / "),
    )
    const ratio = quantile(samples[1], 0.5) / quantile(samples[0], 0.5)
    console.log(`  ${part.padEnd(12)}${figures[0]!.padEnd(30)}${figures[1]!.padEnd(30)}${ratio.toFixed(2)}`)
  }
}

await inTemporaryDirectory(async (directory) => {
  await build(directory)
  for (const row of ROWS) {
    const timings = [noTimings(), noTimings()] as const
    for (const size of row.sizes) await stretch(directory, { size, path: row.path }, noTimings()) // warms up
    for (let at = 0; at < STRETCHES; at++)
      for (const [i, size] of row.sizes.entries()) await stretch(directory, { size, path: row.path }, timings[i]!)
    print(row, ...timings)
  }
})
