/**
 * Prints how many source files run in a turn and in a compaction: those with a named function that is called. Background work has ended
 * before the compaction. `node packages/sim/test/files-of-a-turn.ts --list` names the files.
 */
import { mkdtemp, rm } from "node:fs/promises"
import { Session } from "node:inspector/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Anthropic from "@anthropic-ai/sdk"
import { openConversation } from "@strata/core"
import { startSimulator, workerResponder } from "../src/index.ts"

const TURNS = 8 // that fill the conversation before the compaction

const session = new Session()
session.connect()
await session.post("Profiler.enable")

async function filesIn(work: () => Promise<unknown>): Promise<readonly string[]> {
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false })
  await session.post("Profiler.takePreciseCoverage") // excludes calls made before
  await work()
  const { result } = await session.post("Profiler.takePreciseCoverage")
  await session.post("Profiler.stopPreciseCoverage")
  return result.flatMap(({ url, functions }) => {
    const file = /packages\/(core\/src\/.+)$/.exec(url)?.[1]
    const hasRun = functions.some(
      ({ functionName, ranges }) => functionName !== "" && ranges.some(({ count }) => count > 0),
    )
    return file !== undefined && hasRun ? [file] : []
  })
}

const simulator = await startSimulator({ responder: workerResponder({ seed: 2, turns: 3, trouble: 0 }) })
const dir = await mkdtemp(join(tmpdir(), "strata-files-"))
const client = new Anthropic({ apiKey: "k", baseURL: simulator.url })
const chat = await openConversation({ model: "claude-opus-5-5", client, dir, id: "one", memory: { owner: "me" } })
const answer = (request: Awaited<ReturnType<typeof chat.prepare>>) =>
  client.messages.stream(request as Parameters<typeof client.messages.stream>[0]).finalMessage()

const files: Record<string, readonly string[]> = {}
await chat.add("First.")
await chat.record(await answer(await chat.prepare()))
await chat.whenIdle()
files.add = await filesIn(() => chat.add("Please look at the settings."))
let request: Awaited<ReturnType<typeof chat.prepare>> | undefined
files.prepare = await filesIn(async () => {
  request = await chat.prepare()
})
const response = await answer(request!)
files.record = await filesIn(() => chat.record(response))
for (let turn = 0; turn < TURNS; turn++) {
  await chat.add(`Step ${turn}. ${`Look at part-${turn} of the settings and say what it does. `.repeat(150)}`)
  await chat.record(await answer(await chat.prepare()))
}
await chat.whenIdle()
files.compact = await filesIn(() => chat.compact())
await chat.close()
await simulator.close()
await rm(dir, { recursive: true, force: true })
const isListed = process.argv.includes("--list")
console.log(
  JSON.stringify(
    isListed ? files : Object.fromEntries(Object.entries(files).map(([step, { length }]) => [step, length])),
  ),
)
process.exit(0)
