/**
 * The comparison of the README: every policy on every recorded conversation next to the repository, or on generated work where there is
 * none. It prints a scorecard for each set and what the claims need.
 *
 *     npm run lab -- [--short] [--json FILE] [--policies a,b] [folder with recordings …]
 */
import { existsSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { basename } from "node:path"
import { parseArgs } from "node:util"
import { Worker } from "node:worker_threads"
import { ALL_POLICIES } from "@strata/core/internal/replay/policies/all"
import { scorecard } from "@strata/core/internal/replay/scorecard"
import { claims } from "./lab/claims.ts"
import { scoreRows } from "./lab/score-rows.ts"
import type { Job, Replayed } from "./lab/worker.ts"
import { BESIDE_THE_REPOSITORY, MORE_BESIDE_THE_REPOSITORY } from "./recordings.ts"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: "boolean" }, json: { type: "string" }, policies: { type: "string" } },
})
const SHORT = 4 // recordings of each set
const policies = values.policies?.split(",") ?? ALL_POLICIES.map(({ name }) => name)
const given = positionals.length > 0 ? positionals : [BESIDE_THE_REPOSITORY, MORE_BESIDE_THE_REPOSITORY]
const folders = given.filter((folder) => existsSync(folder))
const sets = folders.length > 0 ? folders : [undefined]

const HOW = `How it is counted
- Every policy replays the same recordings: answers, pauses and sizes as recorded, prices from the list, the cache as the client used it.
- What an answer uses again and a policy has taken out of the view is fetched: one more request, with the block as its result.
- Summaries of all policies are the same extractive ones, with 2,000 tokens at most.
- "strata" caches for five minutes and keeps the cache warm in pauses, also where the client cached for an hour. Pings after the end are not counted.
- "optimum" knows the future and loses nothing. It compacts, and clears no single results in a warm cache.
- Recordings without token counts, with fewer than 5 requests or without a known price are left out.`

const began = performance.now()
const all: Replayed[] = []
for (const folder of sets) {
  const replayed = (await inWorkers({ folder, policies, most: values.short ? SHORT : undefined })).toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  )
  all.push(...replayed)
  console.log(`\n${folder ? basename(folder) : "generated work"}: ${replayed.length} conversations`)
  console.table(scoreRows(scorecard(replayed)))
  for (const line of claims(replayed)) console.log(line)
}
if (sets.length > 1) {
  console.log(`\nAll ${all.length} conversations`)
  console.table(scoreRows(scorecard(all)))
  for (const line of claims(all)) console.log(line)
}
console.log(`\n${HOW}\n\nIt took ${((performance.now() - began) / 60_000).toFixed(1)} minutes.`)
if (values.json) writeFileSync(values.json, `${JSON.stringify(all, undefined, 2)}\n`)

/** Each worker takes every n-th recording. */
async function inWorkers(job: Omit<Job, "part" | "of">): Promise<readonly Replayed[]> {
  const of = Math.min(4, availableParallelism())
  const parts = Array.from({ length: of }, (_, part) => inWorker({ ...job, part, of }))
  return (await Promise.all(parts)).flat()
}

function inWorker(job: Job): Promise<readonly Replayed[]> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./lab/worker.ts", import.meta.url), { workerData: job })
    worker.once("message", resolve)
    worker.once("error", reject)
  })
}
