/**
 * Search in past conversations at 1M tokens: the time of a query, of building the index, and of adding one turn.
 *
 *     npm run bench -- recall
 */
import { join } from "node:path"
import { createEstimator, measureText, TextIndex } from "@strata/core/internal"
import { inTemporaryDirectory, isShort, milliseconds, quantile, timed } from "../../core/bench/measure.ts"
import { makeDialogue } from "../src/memory-questions/dialogues.ts"

const TOKENS = isShort ? 100_000 : 1_000_000
const QUERIES = isShort ? 100 : 500

await inTemporaryDirectory(async (directory) => {
  const estimator = createEstimator("claude-5")
  const index = new TextIndex(join(directory, "recall.sqlite"))
  const questions: string[] = []
  let [tokens, passages, building] = [0, 0, 0]
  for (let seed = 1; tokens < TOKENS; seed++) {
    const dialogue = makeDialogue({ seed, about: seed % 2 ? "project" : "everyday", part: "held-out" })
    questions.push(...dialogue.questions.map(({ text }) => text))
    const turns = dialogue.turns.map(({ session, speaker, text, time }, position) => ({
      ...{ source: `${seed}/${session}`, position, speaker, text, time },
    }))
    building += (await timed(() => index.add(turns))).ms
    passages += turns.length
    for (const { text } of turns) tokens += estimator.tokens(measureText(text))
  }
  const now = new Date("2026-01-01T00:00:00.000Z")
  const times: number[] = []
  for (let query = 0; query < QUERIES; query++) {
    const text = questions[(query * 7) % questions.length]!
    times.push((await timed(() => index.search({ text, now }))).ms)
  }
  const one = { source: "new", position: 0, text: "The staging server moved to port 7071.", time: now.toISOString() }
  const added = await timed(() => index.add([one]))
  index.close()
  console.log(
    `${Math.round(tokens / 1_000)}K tokens in ${passages} passages, indexed in ${(building / 1_000).toFixed(1)} s`,
  )
  console.log(
    `  query: median ${milliseconds(quantile(times, 0.5))}, p95 ${milliseconds(quantile(times, 0.95))} (${QUERIES} queries)`,
  )
  console.log(`  adding one turn: ${milliseconds(added.ms)}`)
})
