/**
 * Finds the size from which results should be offloaded for a client that truncates them itself. Compares the cost of recorded
 * conversations through the proxy, with several sizes, with that of the client alone. Content that an answer uses and the view lacks is
 * read again and charged.
 *
 *     npm run bench:offload -- [--only TEXT]… [--limits 8000,16000] [--previews 2000] [--json FILE] [--from FILE]… [FOLDER …]
 *
 * `--only`: recordings with this text in their name. Sizes are in characters. `--json` saves the results, `--from` reads saved ones.
 * Default folders: the recordings that rules are chosen on, then those that claims are made on.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { basename } from "node:path"
import { percent } from "./lab/score-rows.ts"
import type { ReplayResult } from "./lab/worker.ts"
import { breakEven, chosen, measured, rowOf } from "./offload/measure.ts"
import type { Sizes } from "./offload/policy.ts"
import { HELD_OUT_RECORDINGS, recordedConversations, SHORT_RECORDINGS, TUNING_RECORDINGS } from "./recordings.ts"
import { folderAt, LabUsageError, readCall, withSentences } from "./usage.ts"

const LIMITS = "8000,12000,16000,24000,30000,50000"
const PREVIEWS = "2000,4000"
const USAGE =
  "npm run bench:offload -- [--only TEXT]… [--limits 8000,16000] [--previews 2000] [--json FILE] [--from FILE]… [FOLDER …]"
const OPTIONS = {
  only: { type: "string", multiple: true },
  limits: { type: "string", default: LIMITS },
  previews: { type: "string", default: PREVIEWS },
  json: { type: "string" },
  from: { type: "string", multiple: true },
} as const

const HOW = `How it is counted
- cost: divided by what the client alone cost, with the range that holds 95% of samples of the recordings. Its own compactions are as
  recorded, and their summaries cost it nothing here. Ours are paid for.
- An answer that uses a name, or edits a line, that is not in view needs one more request: through the cache, with the whole result
  from its file, which then stays in view. "fetching" is the part of the cost for such requests, also for what was cleared or summarised.
- put aside, read again: results. in view: of the names that answers used again, those that were in view before anything was read again.
- pays up to: of the results that the next larger size leaves in view, the share that a model may read again at once, for whatever reason,
  before this size costs more than that one.
- Tools that show files are left alone, as the proxy does. What a model only understood, and did not name, is not seen here.`

await withSentences(async () => {
  const { values, positionals } = readCall(process.argv.slice(2), { options: OPTIONS, usage: USAGE })
  const sizes = sizesIn(values.limits, values.previews)
  if (values.from) print("saved", { sizes, all: values.from.flatMap((file) => JSON.parse(readFileSync(file, "utf8"))) })
  else
    for (const folders of setsOf(positionals)) {
      const all: ReplayResult[] = []
      for await (const one of replayed(folders, { sizes, only: values.only ?? [] })) {
        all.push(one)
        if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(all)}\n`)
      }
      print(folders.map((folder) => basename(folder)).join(" and "), { sizes, all })
    }
  console.log(`\n${HOW}`)
})

function setsOf(named: readonly string[]): readonly (readonly string[])[] {
  if (named.length > 0) return [named.map(folderAt)]
  const nextToRepository = [[TUNING_RECORDINGS, SHORT_RECORDINGS], [HELD_OUT_RECORDINGS]]
  const sets = nextToRepository.map((set) => set.filter((folder) => existsSync(folder))).filter((set) => set.length > 0)
  if (sets.length > 0) return sets
  throw new LabUsageError(`There are no recordings next to the repository. Name a folder: ${USAGE}`)
}

function sizesIn(limits: string, previews: string): readonly Sizes[] {
  const numbers = (list: string) => list.split(",").map(Number)
  const sizes = numbers(limits).flatMap((limit) => numbers(previews).map((preview) => ({ limit, preview })))
  const wrong = sizes.find(({ limit, preview }) => !(Number.isInteger(limit) && preview > 0 && preview < limit))
  if (wrong)
    throw new LabUsageError(`Sizes are whole numbers of characters, a preview smaller than its limit. ${USAGE}`)
  return sizes
}

async function* replayed(
  folders: readonly string[],
  { sizes, only }: { readonly sizes: readonly Sizes[]; readonly only: readonly string[] },
): AsyncGenerator<ReplayResult> {
  for (const recording of folders.flatMap((folder) => recordedConversations(folder))) {
    if (only.length > 0 && !only.some((text) => recording.name.includes(text))) continue
    const one = await measured(recording, sizes)
    console.error(`${recording.name}: ${one ? "replayed" : "left out"}`)
    if (one) yield one
  }
}

function print(
  title: string,
  { all, sizes }: { readonly all: readonly ReplayResult[]; readonly sizes: readonly Sizes[] },
) {
  console.log(`\n${title}: ${all.length} conversations`)
  if (all.length === 0) return
  const rows = sizes.map((each) => rowOf(each, all))
  console.table(
    rows.map((row) => ({
      "from characters": row.limit,
      preview: row.preview,
      cost: row.cost.toFixed(3),
      "95%": `${row.min.toFixed(2)} to ${row.max.toFixed(2)}`,
      fetching: row.fetching.toFixed(3),
      "put aside": row.putAside,
      "read again": row.readAgain,
      "in view": `${(100 * row.inView).toFixed(2)}%`,
      "pays up to": shareText(breakEven(row, rows)),
    })),
  )
  const best = chosen(rows)
  if (best)
    console.log(`The cheapest that loses at most 1 point: from ${best.limit} characters, preview ${best.preview}.`)
}

function shareText(share: number | undefined): string {
  return share === undefined ? "" : percent({ share }, 0)
}
