/**
 * Many conversations of one project open in one process, as in a server: what a message of the person costs beside one conversation alone,
 * how many descriptors are open, how much memory each takes while it is idle, and how long it takes to close them all.
 *
 *     npm run bench -- conversations [--beside=<checkout of another version>]
 */
import { readdirSync } from "node:fs"
import { join, resolve } from "node:path"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { type Conversation, localPerson, openConversation } from "@strata/core"
import { inTemporaryDirectory, isShort, milliseconds, quantile, timed } from "./measure.ts"

const MODEL = "claude-opus-4-6"
const COUNTS = isShort ? [20] : [100, 1_000]
const ROUNDS = 3 // messages in each conversation, one conversation after the other
const ALONE = 100 // messages in the one that is alone
const WORDS = "cache window journal boundary summary planner threshold passage owner retry segment digest heron".split(
  " ",
)

setFlagsFromString("--expose-gc")
const collectGarbage = runInNewContext("gc") as () => void

const words = (count: number, from: number) =>
  Array.from({ length: count }, (_, at) => WORDS[(from * 7 + at * (1 + (from % 5))) % WORDS.length]).join(" ")

type Open = (id: string) => Promise<Conversation>

let number = 0

/** One message and its answer. Resolves with the processor time, in milliseconds. */
async function exchange(chat: Conversation): Promise<number> {
  number++
  const before = process.cpuUsage()
  await chat.add(`What about the ${words(12, number)} in file-${number}.ts?`)
  await chat.prepare()
  await chat.record({
    id: `msg_${number}`,
    model: MODEL,
    content: [{ type: "text", text: `In file-${number}.ts: ${words(40, number)}.` }],
    stop_reason: "end_turn",
    usage: { input_tokens: 10, output_tokens: 50, cache_read_input_tokens: 100, cache_creation_input_tokens: 100 },
  })
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

/** Where the system lists them. */
const descriptors = () => (process.platform === "linux" ? readdirSync("/proc/self/fd").length : Number.NaN)

async function measure(open: Open, count: number): Promise<void> {
  const one = await open("alone")
  for (let at = 0; at < ALONE; at++) await exchange(one) // warms up
  const alone: number[] = []
  for (let at = 0; at < ALONE; at++) alone.push(await exchange(one))
  await one.settled()
  collectGarbage()
  const [heap, opened] = [process.memoryUsage().heapUsed, descriptors()]
  const chats: Conversation[] = []
  for (let at = 0; at < count; at++) chats.push(await open(`c${at}`))
  const beside: number[] = []
  for (let round = 0; round < ROUNDS; round++) for (const chat of chats) beside.push(await exchange(chat))
  for (const chat of chats) await chat.settled()
  collectGarbage()
  const each = (process.memoryUsage().heapUsed - heap) / count / 1_000_000
  const more = descriptors() - opened
  const { ms } = await timed(() => Promise.all(chats.map((chat) => chat.close())))
  await one.close()
  const [median, usual] = [quantile(beside, 0.5), quantile(alone, 0.5)]
  const [mean, usualMean] = [meanOf(beside), meanOf(alone)]
  console.log(
    `  ${count} conversations: a message takes ${milliseconds(median)} of processor time, ${(median / usual).toFixed(1)} times one alone (${milliseconds(usual)}); on average ${milliseconds(mean)}, ${(mean / usualMean).toFixed(1)} times; ${each.toFixed(2)} MB each; ${more} descriptors; closing ${milliseconds(ms)}`,
  )
}

const other = process.argv.find((word) => word.startsWith("--beside="))?.slice("--beside=".length)
const versions: readonly (readonly [string, typeof openConversation])[] = [
  ["this version", openConversation],
  ...(other === undefined
    ? []
    : [["the other", (await import(resolve(other, "packages/core/src/index.ts"))).openConversation] as const]),
]
for (const count of COUNTS)
  for (const [name, open] of versions) {
    console.log(name)
    await inTemporaryDirectory((directory) => {
      const dir = join(directory, "data")
      const memory = { owner: localPerson } as const
      return measure((id) => open({ dir, cwd: "/project", id, memory, model: MODEL, env: {} }), count)
    })
  }
