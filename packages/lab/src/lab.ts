/**
 * The comparison of the README: every policy on every recorded conversation next to the repository, or on generated work where there is
 * none. It prints a scorecard for each set, what the claims need, and what the documents should say otherwise.
 *
 *     npm run lab -- [--short] [--generated] [--json FILE] [--policies A,B] [folder with recordings …]
 *
 * `--policies strata-not-warmed` runs Strata without requests that keep the cache warm.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { basename } from "node:path"
import { Worker } from "node:worker_threads"
import { USUAL_LEFT } from "@strata/core/internal/layers/planner/outlook"
import { scorecard } from "@strata/core/internal/replay/scorecard"
import { SUMMARY_TOKENS } from "@strata/core/internal/replay/summary-request"
import { type Asked, askedFor } from "./lab/asked.ts"
import { claims } from "./lab/claims.ts"
import { documented, missingIn } from "./lab/documented.ts"
import { COLUMNS, costRows, evidenceRows } from "./lab/score-rows.ts"
import type { Job, LeftOut, Part, Replayed } from "./lab/worker.ts"
import { LabUsageError, withSentences } from "./usage.ts"

const HOW = `How it is counted
- Every policy replays the same recordings: answers, pauses and sizes as recorded, prices from the list, the cache as the client used it.
- What an answer uses again and a policy has taken out of the view is fetched: one more request, with the block as its result.
- Summaries of all policies are the same extractive ones, with 2,000 tokens at most.
- "strata" caches for five minutes and keeps the cache warm in pauses, also where the client cached for an hour. Keeping it warm after the end is not counted.
- "strata" marks the end of the prompt, so a compaction leaves the whole prompt cached. Some clients mark only a part of it.
- "strata-not-warmed" does not keep it warm, and the planner chooses the lifetime. "strata-as-cached" also caches as long as the client did, with its breakpoints.
- "optimum" knows the future and loses nothing. It compacts to ${SUMMARY_TOKENS} tokens, and clears no single results in a warm cache.
- "best-places" does the same, but a compaction leaves ${USUAL_LEFT} tokens, as one of Strata usually does.`

await withSentences(() => lab(askedFor(process.argv.slice(2))))

async function lab({ sets, policies, most, json, isDocumented }: Asked): Promise<void> {
  const began = performance.now()
  const bySet: (readonly Replayed[])[] = []
  for (const folder of sets) {
    const found = await inWorkers({ folder, policies, ...(most === undefined ? {} : { most }) })
    const replayed = found.replayed.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    bySet.push(replayed)
    print(folder === undefined ? "generated work" : basename(folder), replayed)
    for (const line of leftOutLines(found.leftOut)) console.log(line)
  }
  const all = bySet.flat()
  if (all.length === 0)
    throw new LabUsageError(
      "There is nothing to compare. A recording needs token counts, known prices and at least 5 requests.",
    )
  if (sets.length > 1) print("all sets", all)
  console.log(`\n${COLUMNS}\n\n${HOW}`)
  console.log(`\nIt took ${((performance.now() - began) / 60_000).toFixed(1)} minutes.`)
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(all, undefined, 2)}\n`)
  if (isDocumented) checkDocuments(bySet)
}

function print(title: string, replayed: readonly Replayed[]): void {
  console.log(`\n${title}: ${replayed.length} conversations`)
  if (replayed.length === 0) return
  const card = scorecard(replayed)
  console.table(costRows(card))
  console.table(evidenceRows(card))
  for (const line of claims(replayed)) console.log(line)
}

function leftOutLines(leftOut: readonly LeftOut[]): string[] {
  return [...Map.groupBy(leftOut, ({ why }) => why)].map(
    ([why, those]) =>
      `left out, ${why}: ${those.length} (${those
        .map(({ name }) => name)
        .sort()
        .join(", ")})`,
  )
}

function checkDocuments([transcripts, more]: readonly (readonly Replayed[])[]): void {
  const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8")
  const missing = missingIn(documented({ transcripts: transcripts!, more: more! }), read)
  if (missing.length === 0) console.log("README.md, docs/replay.md and docs/development/figures.md have these figures.")
  else {
    console.log("\nSome documents have other figures. They should say:")
    for (const { file, text } of missing) console.log(`${file}: ${text}`)
    process.exitCode = 1
  }
}

/** Each worker takes every n-th recording. */
async function inWorkers(job: Omit<Job, "part" | "of">): Promise<Part> {
  const of = Math.min(4, availableParallelism())
  const parts = await Promise.all(Array.from({ length: of }, (_, part) => inWorker({ ...job, part, of })))
  return {
    replayed: parts.flatMap(({ replayed }) => replayed),
    leftOut: parts.flatMap(({ leftOut }) => leftOut),
  }
}

function inWorker(job: Job): Promise<Part> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./lab/worker.ts", import.meta.url), { workerData: job })
    worker.once("message", resolve)
    worker.once("error", reject)
  })
}
