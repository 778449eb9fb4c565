/**
 * Measures many open conversations of one project in one process, as in a server: the cost of a user message compared with one conversation
 * alone, how many descriptors are open, how much memory each takes while it is idle, and how long it takes to close them all. Then measures
 * large conversations: the memory of each after its last message and while it is unloaded, and the time of the first message after that.
 *
 *     npm run bench -- conversations [--against=<checkout of another version>]
 */
import { globSync, readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { setTimeout } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { type Conversation, localUser, openConversation } from "@strata/core"
import { internalsOf } from "@strata/core/conversation"
import { manualClock } from "../../../packages/core/src/base/clock.ts"
import { inTemporaryDirectory, isShort, milliseconds, quantile, timed } from "../measure.ts"

const MODEL = "claude-opus-4-6"
const COUNTS = isShort ? [20] : [100, 1_000]
const ROUNDS = 3 // messages in each conversation, one conversation after the other
const LARGE = isShort ? 3 : 10
const WOKEN = 3 // number of additional conversations, for the time that loading takes
const LARGE_MESSAGES = 100
const TOKENS_EACH = 2_000 // in a message and its answer
const LARGE_TOKENS = LARGE_MESSAGES * TOKENS_EACH
const LARGE_CHARACTERS = 6_800 // in an answer, as code is counted
const ALONE = 100 // messages in the conversation that is measured alone
const WORDS = "cache window journal boundary summary planner threshold passage owner retry segment digest heron".split(
  " ",
)

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void

const words = (count: number, from: number) =>
  Array.from({ length: count }, (_, at) => WORDS[(from * 7 + at * (1 + (from % 5))) % WORDS.length]).join(" ")

type Open = (id: string) => Promise<Conversation>

let number = 0

/** Sends one message and records its answer. Resolves with the processor time in milliseconds. */
async function exchange(chat: Conversation, { more = "", cached = 100 } = {}): Promise<number> {
  number++
  const before = process.cpuUsage()
  await chat.add(`What about the ${words(12, number)} in file-${number}.ts?`)
  await chat.prepare()
  await chat.record({
    id: `msg_${number}`,
    model: MODEL,
    content: [{ type: "text", text: `In file-${number}.ts: ${words(40, number)}. ${more}` }],
    stop_reason: "end_turn",
    usage: { input_tokens: 10, output_tokens: 50, cache_read_input_tokens: cached, cache_creation_input_tokens: 100 },
  })
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/** Real text, because compressed sizes are measured: Strata's own code, continued where the last answer ended. */
const sources = globSync("packages/core/src/**/*.ts")
  .map((path) => readFileSync(path, "utf8"))
  .join("")
let read = 0
function sourceText(): string {
  read = (read + LARGE_CHARACTERS) % (sources.length - LARGE_CHARACTERS)
  return sources.slice(read, read + LARGE_CHARACTERS)
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

/** Open file descriptors, where the system lists them. */
const descriptors = () => (process.platform === "linux" ? readdirSync("/proc/self/fd").length : Number.NaN)

async function measure(open: Open, count: number): Promise<void> {
  const one = await open("alone")
  for (let at = 0; at < ALONE; at++) await exchange(one) // warms up
  const alone: number[] = []
  for (let at = 0; at < ALONE; at++) alone.push(await exchange(one))
  await one.whenIdle()
  collectGarbage()
  const [heap, opened] = [process.memoryUsage().heapUsed, descriptors()]
  const chats: Conversation[] = []
  for (let at = 0; at < count; at++) chats.push(await open(`c${at}`))
  const together: number[] = []
  for (let round = 0; round < ROUNDS; round++) for (const chat of chats) together.push(await exchange(chat))
  for (const chat of chats) await chat.whenIdle()
  collectGarbage()
  const each = (process.memoryUsage().heapUsed - heap) / count / 1_000_000
  const more = descriptors() - opened
  const { ms } = await timed(() => Promise.all(chats.map((chat) => chat.close())))
  await one.close()
  const [median, usual] = [quantile(together, 0.5), quantile(alone, 0.5)]
  const [mean, usualMean] = [meanOf(together), meanOf(alone)]
  console.log(
    `  ${count} conversations: a message takes ${milliseconds(median)} of processor time, ${(median / usual).toFixed(1)} times one alone (${milliseconds(usual)}); on average ${milliseconds(mean)}, ${(mean / usualMean).toFixed(1)} times; ${each.toFixed(2)} MB each; ${more} descriptors; closing ${milliseconds(ms)}`,
  )
}

interface LargeOptions {
  readonly advance: (ms: number) => void
  /** Reads internals of a conversation. An older version has none. */
  readonly inside: typeof internalsOf | undefined
}

/** Measures large conversations, on a clock that is moved until they are unloaded. Memory shared by the process is not counted. */
async function measureLarge(open: Open, { advance, inside }: LargeOptions): Promise<void> {
  const memory = async () => {
    for (let time = 0; time < 3; time++) {
      collectGarbage()
      await setTimeout(10) // memory is freed after this turn of the event loop
    }
    const { heapUsed, external } = process.memoryUsage()
    return { heapUsed, external }
  }
  const keeper = await open("keeper") // keeps shared memory allocated
  const chats: Conversation[] = []
  const usual: number[] = []
  for (let at = 0; at < LARGE + WOKEN; at++) {
    const chat = await open(`large-${at}`)
    for (let message = 1; message <= LARGE_MESSAGES; message++)
      await exchange(chat, { more: sourceText(), cached: message * TOKENS_EACH })
    usual.push(await exchange(chat, { cached: LARGE_TOKENS }))
    chats.push(chat)
  }
  for (const chat of chats) await chat.whenIdle()
  const awake = await memory()
  for (let minutes = 0; minutes < 90; minutes += 5) {
    advance(300_000)
    for (const chat of chats) {
      await chat.whenIdle()
      await inside?.(chat).isAsleep()
    }
  }
  const asleep = await memory()
  for (const chat of chats.splice(0, LARGE)) await chat.close()
  const closed = await memory()
  const first: number[] = []
  for (const chat of chats) first.push(await exchange(chat, { cached: LARGE_TOKENS }))
  for (const chat of [...chats, keeper]) await chat.close()
  const megabytes = (of: keyof typeof closed) => {
    const idle = (asleep[of] - closed[of]) / LARGE / 1_000_000
    return { idle: idle.toFixed(2), used: (idle + (awake[of] - asleep[of]) / (LARGE + WOKEN) / 1_000_000).toFixed(2) }
  }
  const [heap, outside] = [megabytes("heapUsed"), megabytes("external")]
  console.log(
    `  ${LARGE} conversations of ${LARGE_TOKENS / 1_000}K tokens: each has ${heap.used} MB of heap and ${outside.used} outside it after a message, ${heap.idle} and ${outside.idle} when idle; a message then takes ${milliseconds(quantile(first, 0.5))} of processor time instead of ${milliseconds(quantile(usual, 0.5))}`,
  )
}

const other = process.argv.find((word) => word.startsWith("--against="))?.slice("--against=".length)
const versions: readonly (readonly [string, typeof openConversation, LargeOptions["inside"]])[] = [
  ["this version", openConversation, internalsOf],
  ...(other === undefined ? [] : [await versionIn(resolve(other, "packages/core/src"))]),
]
async function versionIn(sources: string) {
  const [root, entry] = await Promise.all([
    import(join(sources, "index.ts")),
    import(join(sources, "entries", "conversation.ts")),
  ])
  return ["the other", root.openConversation, entry.internalsOf] as const
}
for (const count of COUNTS)
  for (const [name, open] of versions) {
    console.log(name)
    await inTemporaryDirectory((directory) => {
      const dir = join(directory, "data")
      const memory = { owner: localUser } as const
      return measure((id) => open({ dir, cwd: "/project", id, memory, model: MODEL, env: {} }), count)
    })
  }
for (const [name, open, inside] of versions) {
  console.log(name)
  await inTemporaryDirectory((directory) => {
    const clock = manualClock()
    const memory = { owner: localUser } as const
    const given = { dir: join(directory, "data"), cwd: "/project", memory, env: {}, clock } as const
    const settings = { autoCompactEnabled: false, models: { [MODEL]: { window: 1_000_000 } } }
    return measureLarge((id) => open({ ...given, id, settings, model: MODEL }), { advance: clock.advance, inside })
  })
}
