/**
 * Runs the comparison of the README: every policy on every recorded conversation next to the repository, or on generated work without
 * recordings. It prints a scorecard for each set, the check of the claims, and outdated texts of the documents.
 *
 *     npm run lab -- [--short] [--generated] [--json FILE] [--from FILE] [--svg FILE] [--policies A,B] [folder with recordings …]
 *
 * `--json` saves the results, `--from` reads saved ones, `--svg` draws cost and compactions of the last set.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { basename } from "node:path"
import { Worker } from "node:worker_threads"
import { scorecard } from "@strata/transcripts/replay"
import { USUAL_REMAINING } from "../../packages/core/src/layers/planner/planner.ts"
import { SUMMARY_TOKENS } from "../../packages/transcripts/src/replay/summary-request.ts"
import { claims } from "./lab/claims.ts"
import { documented, missingIn } from "./lab/documented.ts"
import { frontierPicture, frontierRows } from "./lab/frontier.ts"
import { type LabOptions, parseLabOptions } from "./lab/options.ts"
import { COLUMNS, costRows, evidenceRows } from "./lab/score-rows.ts"
import type { Job, OmittedRecording, ReplayPart, ReplayResult } from "./lab/worker.ts"
import { LabUsageError, withSentences } from "./usage.ts"

const HOW = `How it is counted
- Every policy replays the same recordings: answers, pauses and sizes as recorded, prices from the list, the cache as the client used it.
- What an answer uses again and a policy has taken out of the view is fetched: one more request, with the block as its result.
- Summaries of all policies are the same extractive ones, with ${SUMMARY_TOKENS} tokens at most. A model takes 30 seconds for one.
- Summaries in the background are charged when they are written, also if no one comes back. So are requests that keep the cache warm after the end.
- "strata" is charged for notes and memories as well. Outputs that a recording cut short are estimated.
- "strata" begins with the cache lifetime that the client asked for. It marks the end of the prompt, so a compaction leaves the whole prompt cached.
- "strata-not-warmed" is a plain openConversation: it does not keep the cache warm, and without an owner it has no memories.
- "optimum" knows the future and loses nothing. It compacts to ${SUMMARY_TOKENS} tokens, and clears no single results in a warm cache.
- "best-places" does the same, but a compaction leaves ${USUAL_REMAINING} tokens, as one of Strata usually does.`

await withSentences(() => lab(parseLabOptions(process.argv.slice(2))))

/** A set of recordings that was replayed. */
interface ReplayedSet {
  readonly title: string
  readonly replayed: readonly ReplayResult[]
  readonly omitted: readonly OmittedRecording[]
}

async function lab({ sets, max, json, from, svg, isDocumented }: LabOptions): Promise<void> {
  const began = performance.now()
  const found: ReplayedSet[] = from === undefined ? [] : JSON.parse(readFileSync(from, "utf8"))
  if (from === undefined)
    for (const { folder, policies } of sets) {
      const { replayed, omitted } = await inWorkers({ folder, policies, ...(max === undefined ? {} : { max }) })
      const title = folder === undefined ? "generated work" : basename(folder)
      found.push({ title, omitted, replayed: replayed.toSorted((a, b) => (a.name < b.name ? -1 : 1)) })
      if (json !== undefined) writeFileSync(json, `${JSON.stringify(found)}\n`)
    }
  if (found.every(({ replayed }) => replayed.length === 0))
    throw new LabUsageError(
      "There is nothing to compare. A recording needs token counts, known prices and at least 5 requests.",
    )
  for (const { title, replayed, omitted } of found) {
    print(title, replayed)
    for (const line of omittedLines(omitted)) console.log(line)
  }
  console.log(`\n${COLUMNS}\n\n${HOW}`)
  console.log(`\nIt took ${((performance.now() - began) / 60_000).toFixed(1)} minutes.`)
  if (svg !== undefined) writeFileSync(svg, frontierPicture(scorecard(found.at(-1)!.replayed)))
  if (isDocumented) checkDocuments(found)
}

function print(title: string, replayed: readonly ReplayResult[]): void {
  console.log(`\n${title}: ${replayed.length} conversations`)
  if (replayed.length === 0) return
  const card = scorecard(replayed)
  console.table(costRows(card))
  console.table(frontierRows(card))
  console.table(evidenceRows(card))
  for (const line of claims(replayed)) console.log(line)
}

function omittedLines(omitted: readonly OmittedRecording[]): string[] {
  return [...Map.groupBy(omitted, ({ reason }) => reason)].map(
    ([reason, those]) =>
      `omitted, ${reason}: ${those.length} (${those
        .map(({ name }) => name)
        .sort()
        .join(", ")})`,
  )
}

function checkDocuments([transcripts, short, more]: readonly ReplayedSet[]): void {
  const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8")
  const missing = missingIn(
    documented({ tuned: [...transcripts!.replayed, ...short!.replayed], more: more!.replayed }),
    read,
  )
  if (missing.length === 0)
    console.log("README.md, docs/development/policies.md and docs/development/figures.md have these figures.")
  else {
    console.log("\nSome documents have other figures. They should say:")
    for (const { file, text } of missing) console.log(`${file}: ${text}`)
    process.exitCode = 1
  }
}

/** Replays in several workers: each of n workers takes every n-th recording. */
async function inWorkers(job: Omit<Job, "part" | "of">): Promise<ReplayPart> {
  const of = Math.min(4, availableParallelism())
  const parts = await Promise.all(Array.from({ length: of }, (_, part) => inWorker({ ...job, part, of })))
  return {
    replayed: parts.flatMap(({ replayed }) => replayed),
    omitted: parts.flatMap(({ omitted }) => omitted),
  }
}

function inWorker(job: Job): Promise<ReplayPart> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./lab/worker.ts", import.meta.url), { workerData: job })
    worker.once("message", resolve)
    worker.once("error", reject)
  })
}
