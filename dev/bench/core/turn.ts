/**
 * Measures one more turn of a long conversation with all layers: `add()` a tool result or a user message, `prepare()` the request,
 * `record()` the answer. The time must depend on new content only, so each row is measured at two sizes: alone, among 400 other
 * conversations, in memory, above the warning threshold, and where the server's cache is lost. The last rows are a chat from its beginning,
 * planner included.
 *
 * Series of 100 turns alternate between the sizes, and between this version and another one. Each starts from its own copy, so all turns of
 * a row have about the same size. Between a request and its answer, and before the user writes, a few milliseconds pass that are not
 * counted. The disk and background tasks work then, as they do while a model answers. Processor time covers all threads, including
 * background work. A turn on disk waits for one flush, so a bare flush of a line of the same size is measured after each turn.
 *
 *     npm run bench -- turn [--against=<checkout of another version>]
 */
import { closeSync, cpSync, openSync, rmSync, writeSync } from "node:fs"
import { open as openFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { type Conversation, localUser, memoryStore, openConversation } from "@strata/core"
import { inTemporaryDirectory, isShort, milliseconds, quantile } from "../measure.ts"

const MODEL = "claude-opus-4-6"
const TOKENS_PER_TURN = 100 // as the responses report them
const STRETCH = 100 // turns measured in a row
const STRETCHES = isShort ? 1 : 10
const WIDE_WINDOW = 4_000_000 // far from every threshold
const ABOVE_WARNING = 51_000 // tokens of window beyond the size: 2K above the warning threshold, 18K below the limit
const ALWAYS_READ = 5_000 // tokens that the server still has cached after the rest is lost
const PAUSE_MS = 5 // a model takes longer
const OTHERS = isShort ? 50 : 400
const RESULT = "export const answer = (question: string): number => question.length * 42\n".repeat(4) // about 90 tokens
const WORDS =
  "cache window journal boundary summary planner threshold passage owner retry segment digest branch telemetry heron".split(
    " ",
  )

type TurnKind = "tool results" | "messages of the user"
type How = "alone" | "among others" | "in memory" | "above the warning" | "after a lost cache"

interface Row {
  readonly what: TurnKind
  readonly how: How
  readonly sizes: readonly [number, number]
}

const SIZES = isShort ? ([20_000, 100_000] as const) : ([100_000, 1_200_000] as const)
const row = (what: TurnKind, how: How): Row => ({ what, how, sizes: SIZES })
const ROWS: readonly Row[] = [
  row("tool results", "alone"),
  row("messages of the user", "alone"),
  row("tool results", "among others"),
  row("messages of the user", "among others"),
  row("tool results", "in memory"),
  row("messages of the user", "in memory"),
  row("tool results", "above the warning"),
  row("tool results", "after a lost cache"),
]

type Open = typeof openConversation

/** This version, and the version to compare with. */
async function versions(): Promise<readonly { readonly name: string; readonly open: Open }[]> {
  const against = process.argv.find((word) => word.startsWith("--against="))?.slice("--against=".length)
  if (against === undefined) return [{ name: "", open: openConversation }]
  const { openConversation: open } = await import(resolve(against, "packages/core/src/index.ts"))
  return [
    { name: "this version", open: openConversation },
    { name: "the other", open },
  ]
}

interface Timings {
  /** Time of a turn in milliseconds, and of a bare flush right after it. */
  readonly turns: number[]
  readonly flushes: number[]
  /** Processor time of a turn in milliseconds: the mean of each stretch. */
  readonly processor: number[]
}

const noTimings = (): Timings => ({ turns: [], flushes: [], processor: [] })

const name = (tokens: number) => (tokens < 1_000_000 ? `${tokens / 1_000}K` : `${tokens / 1_000_000}M`)

interface Opening {
  readonly id?: string
  readonly window?: number
  readonly flush?: "never"
  readonly store?: ReturnType<typeof memoryStore>
  readonly planner?: "off"
}

const opened = (
  root: string,
  { id = "bench", window, flush, store, planner }: Opening,
  open: Open = openConversation,
) =>
  open({
    dir: join(root, "data"),
    cwd: "/project",
    id,
    memory: { owner: localUser },
    model: MODEL,
    settings: {
      ...(flush ? { flush } : {}),
      ...(planner ? { planner } : {}), // by default it would compact conversations of this size
      ...(window ? { models: { [MODEL]: { window } } } : {}),
    },
    env: {},
    ...(store ? { store } : {}),
  })

/** Usage of a turn: the entire cache is read, or almost nothing. */
function usageOf(number: number, isLost: boolean) {
  const cached = number * TOKENS_PER_TURN
  const read = isLost ? Math.min(cached, ALWAYS_READ) : cached
  const written = cached - read + TOKENS_PER_TURN
  return { input_tokens: 10, output_tokens: 50, cache_read_input_tokens: read, cache_creation_input_tokens: written }
}

const words = (count: number, from: number) =>
  Array.from({ length: count }, (_, at) => WORDS[(from * 7 + at * (1 + (from % 5))) % WORDS.length]).join(" ")

/** One turn: a response of the model, then a tool result or a user message. */
function turnOf(what: TurnKind, number: number, isLost = false) {
  const id = `toolu_${number}`
  const isCall = what === "tool results"
  return {
    response: {
      id: `msg_${number}`,
      model: MODEL,
      content: isCall
        ? [{ type: "tool_use" as const, id, name: "Read", input: { file_path: `/src/file-${number}.ts` } }]
        : [{ type: "text" as const, text: `In file-${number}.ts: ${words(40, number)}.` }],
      stop_reason: isCall ? "tool_use" : "end_turn",
      usage: usageOf(number, isLost),
    },
    next: isCall
      ? { role: "user" as const, content: [{ type: "tool_result" as const, tool_use_id: id, content: RESULT }] }
      : `What about the ${words(12, number)} in file-${number}.ts?`,
  }
}

/** Adds turns until the conversation has a size. Resolves with the number of the next turn. */
async function grow(chat: Conversation, number: number, size: number): Promise<number> {
  if (number === 0) await chat.add("Read all files.")
  let next = number
  for (; next < size / TOKENS_PER_TURN; next++) {
    const { response, next: result } = turnOf("tool results", next)
    await chat.record(response)
    await chat.add(result)
  }
  return next
}

/** Creates a directory for each size, with and without other conversations. */
async function build(directory: string): Promise<void> {
  const growing = join(directory, "growing")
  let number = 0
  for (const size of SIZES) {
    const chat = await opened(growing, { window: WIDE_WINDOW, flush: "never", planner: "off" })
    number = await grow(chat, number, size)
    await chat.close()
    cpSync(growing, join(directory, name(size)), { recursive: true })
  }
  const others = join(directory, "others")
  for (let at = 0; at < OTHERS; at++) {
    const chat = await opened(others, { id: `other-${at}`, flush: "never" })
    const { response, next } = turnOf("messages of the user", at)
    await chat.add(next)
    await chat.record(response)
    await chat.close()
  }
}

interface Stretch {
  readonly directory: string
  readonly row: Row
  readonly size: number
  readonly open: Open
}

async function stretch({ directory, row: { what, how }, size, open }: Stretch, into: Timings): Promise<void> {
  const copy = join(directory, "copy")
  const window = how === "above the warning" ? size + ABOVE_WARNING : WIDE_WINDOW
  const store = how === "in memory" ? memoryStore() : undefined
  if (!store) cpSync(join(directory, name(size)), copy, { recursive: true })
  if (how === "among others") cpSync(join(directory, "others"), copy, { recursive: true })
  const chat = await opened(copy, { window, planner: "off", ...(store ? { store } : {}) }, open)
  const first = store ? await grow(chat, 0, size) : size / TOKENS_PER_TURN
  await chat.prepare()
  await chat.whenIdle()
  collectGarbage() // garbage of earlier stretches
  const isLost = how === "after a lost cache"
  await run({ chat, what, first, isLost, count: STRETCH, directory, isOnDisk: !store }, into)
  const { state } = chat.windowUsage()
  if ((state === "warning") !== (how === "above the warning")) throw new Error(`${how}: the state is "${state}"`)
  await chat.close()
  if (!store) rmSync(copy, { recursive: true })
}

interface Run {
  readonly chat: Conversation
  readonly what: TurnKind
  /** The number of the first turn. */
  readonly first: number
  readonly count: number
  readonly isLost: boolean
  readonly directory: string
  readonly isOnDisk: boolean
}

async function run({ chat, what, first, count, isLost, directory, isOnDisk }: Run, into: Timings): Promise<void> {
  const bare = join(directory, "bare")
  const before = process.cpuUsage()
  for (let number = first; number < first + count; number++) {
    const { response, next } = turnOf(what, number, isLost)
    await wait(PAUSE_MS) // time in which the model answers
    let start = performance.now()
    await chat.record(response)
    let ms = performance.now() - start
    if (what !== "tool results") await wait(PAUSE_MS) // time in which the user writes
    start = performance.now()
    await chat.add(next)
    await chat.prepare()
    ms += performance.now() - start
    into.turns.push(ms)
    if (isOnDisk) into.flushes.push(await bareFlush(bare, JSON.stringify(response)))
  }
  const { user, system } = process.cpuUsage(before)
  into.processor.push((user + system) / 1_000 / count)
}

async function bareFlush(path: string, line: string): Promise<number> {
  const file = openSync(path, "a")
  const handle = await openFile(path, "a")
  const start = performance.now()
  writeSync(file, `${line}\n`)
  await handle.datasync()
  const ms = performance.now() - start
  closeSync(file)
  await handle.close()
  return ms
}

/** Measures a chat from its beginning, as `openConversation` opens it by default, among other conversations. */
async function fromTheBeginning(
  directory: string,
  what: TurnKind,
  open: Open,
): Promise<Timings & { compactions: number }> {
  const copy = join(directory, "copy")
  cpSync(join(directory, "others"), copy, { recursive: true })
  const chat = await opened(copy, {}, open)
  let compactions = 0
  chat.on("compaction", ({ phase }) => {
    if (phase === "done") compactions++
  })
  const timings = noTimings()
  await chat.add("Read all files.")
  await chat.prepare()
  const isLost = false
  await run({ chat, what, first: 0, count: STRETCH, isLost, directory, isOnDisk: true }, noTimings()) // warms up
  await run({ chat, what, first: STRETCH, count: STRETCH * STRETCHES, isLost, directory, isOnDisk: true }, timings)
  await chat.close()
  rmSync(copy, { recursive: true })
  return { ...timings, compactions }
}

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void

const figures = ({ turns, flushes, processor }: Timings) =>
  [
    [0.5, 0.99, 1].map((share) => milliseconds(quantile(turns, share))).join(" / "),
    ...(flushes.length > 0
      ? [`bare flush ${[0.5, 0.99, 1].map((share) => milliseconds(quantile(flushes, share))).join(" / ")}`]
      : []),
    `processor ${milliseconds(quantile(processor, 0.5))}`,
  ].join(", ")

await inTemporaryDirectory(async (directory) => {
  const all = await versions()
  await build(directory)
  console.log(`Median / p99 / slowest of ${STRETCH * STRETCHES} turns, all layers on, ${OTHERS} others open`)
  for (const each of ROWS) {
    console.log(`\n${each.what}, ${each.how}`)
    const timings = all.map(() => each.sizes.map(noTimings))
    for (let at = -1; at < STRETCHES; at++)
      // the first one warms up
      for (const [version, { open }] of all.entries())
        for (const [nth, size] of each.sizes.entries())
          await stretch({ directory, row: each, size, open }, at < 0 ? noTimings() : timings[version]![nth]!)
    for (const [version, { name: called }] of all.entries()) {
      const measured = timings[version]!
      for (const [nth, size] of each.sizes.entries())
        console.log(`  ${called} ${name(size).padEnd(5)} ${figures(measured[nth]!)}`)
      const [small, large] = measured.map(({ turns }) => quantile(turns, 0.5)) as [number, number]
      console.log(`  ${called} ratio ${(large / small).toFixed(2)}`)
    }
  }
  for (const what of ["tool results", "messages of the user"] as const) {
    console.log(`\n${what}, a chat from its beginning, planner on, among others`)
    for (const { name: called, open } of all) {
      const timings = await fromTheBeginning(directory, what, open)
      console.log(`  ${called} ${figures(timings)}, ${timings.compactions} compactions`)
    }
  }
})
