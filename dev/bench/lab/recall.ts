/**
 * Measures recall at 1M tokens. In past conversations: the processor time of a query, the time of building the index and of adding one
 * turn. In one conversation, at a tenth and at the full size: fetching a block by its handle, searching, and indexing new entries. In
 * projects with 0, 60, 1,500 and 10,000 memories: the cost of memory in the first turn and in later ones (alone: `npm run bench --
 * memory`). `BENCH_TOKENS=10000000` sets the size of past conversations.
 *
 *     npm run bench -- recall
 */
import { join } from "node:path"
import { PassageIndex } from "../../../packages/core/src/recall/index/passage-index.ts"
import type { Passage } from "../../../packages/core/src/recall/passages/passage.ts"
import { createEstimator, measureText } from "../../../packages/core/src/tokens/estimate.ts"
import { makeDialogue } from "../../lab/memory-questions/dialogues.ts"
import { measureReach, reachReport } from "../../lab/recall-reach/measure.ts"
import { inTemporaryDirectory, isShort, milliseconds, quantile, timed } from "../measure.ts"
import { memoryTurnReport } from "./memory-turn.ts"

const TOKENS = isShort ? 100_000 : 1_000_000
const PAST_TOKENS = Number(process.env.BENCH_TOKENS ?? TOKENS)
const QUERIES = isShort ? 100 : 500

/** Queries without a distinctive term, which fall back to a literal text search. */
const OF_TIMES = ["last week", "yesterday", "in May 2025", "on 2025-03-01", "in 2025", "three months ago"].flatMap(
  (time) => [`what did we do ${time}?`, `what was it ${time}`, `and ${time}?`],
)

const passage = (at: number, { text, time }: { readonly text: string; readonly time: string }): Passage => ({
  ...{ uuid: `${at}`, blocks: "0", kind: "user", isDialogue: true, time, start: 0, length: text.length, text },
})

await inTemporaryDirectory(async (directory) => {
  const estimator = createEstimator("claude-5")
  const index = new PassageIndex(join(directory, "search.sqlite"))
  const questions: string[] = []
  const statements: string[] = []
  let [tokens, passages, building] = [0, 0, 0]
  for (let seed = 1; tokens < PAST_TOKENS; seed++) {
    const dialogue = makeDialogue({ seed, about: seed % 2 ? "project" : "everyday", part: "held-out" })
    questions.push(...dialogue.questions.map(({ text }) => text))
    const { turns } = dialogue
    const sessions = Map.groupBy(turns.entries(), ([, { session }]) => `${seed}/${session}`)
    const sources = new Map(
      [...sessions].map(([source, turns]) => [source, turns.map(([at, turn]) => passage(at, turn))]),
    )
    building += (await timed(() => index.replace(sources))).ms
    passages += turns.length
    if (statements.length < 5 * QUERIES) statements.push(...dialogue.turns.map(({ text }) => text))
    for (const { text } of turns) tokens += estimator.tokens(measureText(text))
  }
  const now = new Date("2026-01-01T00:00:00.000Z")
  const query = (at: number, context: readonly string[], text = questions[(at * 7) % questions.length]!) => {
    const start = process.cpuUsage()
    index.search({ text, now, context })
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1_000
  }
  const first = query(0, [])
  const alone = Array.from({ length: QUERIES }, (_, at) => query(at, []))
  const inContext = Array.from({ length: QUERIES }, (_, at) => query(at, statements.slice(5 * at, 5 * at + 5)))
  const ofTimes = Array.from({ length: QUERIES }, (_, at) => query(at, [], OF_TIMES[at % OF_TIMES.length]))
  const one = passage(0, { text: "The staging server moved to port 7071.", time: now.toISOString() })
  const added = await timed(() => index.replace(new Map([["new", [one]]])))
  index.close()
  console.log(
    `${Math.round(tokens / 1_000)}K tokens in ${passages} passages, indexed in ${(building / 1_000).toFixed(1)} s`,
  )
  for (const [name, times] of Object.entries({
    alone,
    "with five messages of context": inContext,
    "of a time only": ofTimes,
  }))
    console.log(
      `  query ${name}: median ${milliseconds(quantile(times, 0.5))}, p95 ${milliseconds(quantile(times, 0.95))} (processor time, ${QUERIES} queries)`,
    )
  console.log(`  the first query: ${milliseconds(first)}`)
  console.log(`  adding one turn: ${milliseconds(added.ms)}`)
})

console.log(await memoryTurnReport())

// a compaction of a few thousand tokens would be refused as useless
for (const tokens of isShort ? [TOKENS] : [TOKENS / 10, TOKENS])
  console.log(reachReport(await measureReach({ tokens, compactions: 5 })))
