/**
 * Measures how the first sentence of `strata usage` changes while more conversations are replayed. It replays all conversations of a folder
 * in a random order, notes the value after each, and counts the later values that an earlier interval does not contain.
 *
 *     npm run usage-sample -- [folder with recordings]
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openUsage, type UsageSavings } from "../../packages/page/src/index.ts"
import { HELD_OUT_RECORDINGS } from "./recordings.ts"
import { folderAt, LabUsageError, readCall, withSentences } from "./usage.ts"

const STAGES = [0.1, 0.3, 1] // shares of the replays
const percent = (share: number) => `${(100 * share).toFixed(1)}%`

await withSentences(async () => {
  const { positionals } = readCall(process.argv.slice(2), { options: {}, usage: "npm run usage-sample -- [FOLDER]" })
  const folder = positionals[0] === undefined ? HELD_OUT_RECORDINGS : folderAt(positionals[0])
  if (!existsSync(folder))
    throw new LabUsageError(
      "There are no recordings, so nothing was replayed. Name a folder: npm run usage-sample -- FOLDER",
    )
  const root = mkdtempSync(join(tmpdir(), "strata-usage-sample-"))
  const look = openUsage({ env: {}, home: root, root, dirs: [folder], onlyDirs: true })
  try {
    await look.update()
    const after: UsageSavings[] = []
    await look.replay({
      signal: new AbortController().signal,
      isInBackground: false,
      onReplayed: () => after.push(look.savings()),
    })
    print(after)
    console.log(look.report().sentence)
  } finally {
    await look.close()
    rmSync(root, { recursive: true, force: true })
  }
})

function print(after: readonly UsageSavings[]): void {
  const all = after.length
  const first = after.findIndex(({ figure }) => figure.kind === "sampled") + 1
  const stages = STAGES.map((share) => Math.max(1, Math.round(share * all)))
  console.table(
    [...new Set([...stages, first].filter((count) => count > 0))]
      .toSorted((a, b) => a - b)
      .map((count) => row(count, after[count - 1]!)),
  )
  const pairs = after.flatMap(({ figure: earlier }, at) =>
    earlier.kind !== "sampled"
      ? []
      : after.slice(at + 1).flatMap(({ figure: later }) => {
          if (later.kind !== "sampled" && later.kind !== "exact") return []
          const shown = Math.round(later.share * 100) / 100 // the sentence shows integer percents
          return [shown < earlier.from || shown > earlier.to]
        }),
  )
  console.log(`Later figures outside an earlier interval: ${pairs.filter(Boolean).length} of ${pairs.length} pairs.`)
}

function row(count: number, { figure, of, covers }: UsageSavings) {
  const share = figure.kind === "sampled" || figure.kind === "exact" ? percent(figure.share) : "says nothing yet"
  const interval = figure.kind === "sampled" ? `${percent(figure.from)} to ${percent(figure.to)}` : ""
  return { replays: count, conversations: of, "would have saved": share, interval, "of the money": percent(covers) }
}
