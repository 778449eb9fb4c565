/** Dreams over a generated bank, by rule alone, and counts what left the view. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileStore, isCurrent } from "@strata/core/internal"
import { systemClock } from "@strata/core/internal/base/clock"
import { Dreaming } from "@strata/core/internal/layers/6-dreaming/dreaming"
import { openBank } from "@strata/core/internal/memory/bank"
import { bankFor, type Material, type Planted } from "./generate.ts"

export interface DreamMarks {
  memories: number
  /** Facts that no current memory states any more. */
  trueOutOfView: number
  repeated: Share
  reworded: Share
  outdated: Share
  milliseconds: number
  /** Sentences about each mistake and each omission. */
  mistakes: string[]
  missed: string[]
}
interface Share {
  found: number
  of: number
}

export const noMarks = (): DreamMarks => ({
  ...{ memories: 0, trueOutOfView: 0, milliseconds: 0, mistakes: [], missed: [] },
  ...{ repeated: { found: 0, of: 0 }, reworded: { found: 0, of: 0 }, outdated: { found: 0, of: 0 } },
})

export async function measureDream(material: Material, { seed, size, marks }: { readonly seed: number; readonly size: number; readonly marks: DreamMarks }): Promise<void> {
  const planted = bankFor(material, { seed, size })
  const { superseded, milliseconds } = await dreamOver(planted)
  marks.memories += planted.length
  marks.milliseconds += milliseconds
  const bodies = new Map(planted.map(({ file, text }) => [file, text.split("---\n\n")[1]!.trim()]))
  for (const [fact, group] of Map.groupBy(planted, ({ fact }) => fact)) {
    const isSeen = group.some(({ file, isTrue }) => isTrue && !superseded.has(file))
    // a memory that something about another fact took the place of is out of view, even if its fact is said elsewhere
    const astray = group.filter(({ file, isTrue }) => isTrue && superseded.has(file) && planted.find((one) => one.file === superseded.get(file))?.fact !== fact)
    if (!isSeen || astray.length > 0) marks.trueOutOfView++
    for (const { file } of isSeen ? astray : group.filter(({ isTrue }) => isTrue))
      marks.mistakes.push(`${bodies.get(file)} → ${bodies.get(superseded.get(file) ?? "") ?? "nothing"}`)
    for (const kind of ["repeated", "reworded"] as const) {
      if (!group.some((one) => one.kind === kind)) continue
      marks[kind].of++
      const isMerged = group.some(({ file }) => superseded.has(file))
      marks[kind].found += Number(isMerged)
      if (!isMerged) marks.missed.push(`${kind}: ${group.map(({ file }) => bodies.get(file)).join(" | ")}`)
    }
    for (const { file } of group.filter(({ isTrue }) => !isTrue)) {
      marks.outdated.of++
      marks.outdated.found += Number(superseded.has(file))
      if (!superseded.has(file)) marks.missed.push(`outdated: ${group.map((one) => bodies.get(one.file)).join(" | ")}`)
    }
  }
}

/** The files that a dream takes out of view, and what takes their place. It asks no model. */
async function dreamOver(planted: readonly Planted[]) {
  const root = mkdtempSync(join(tmpdir(), "dream-marks-"))
  try {
    const project = join(root, "code")
    mkdirSync(project)
    const files = fileStore({ root: join(root, "home"), clock: systemClock }).memories!({ project: "code" })
    const directory = files.directory!
    mkdirSync(directory, { recursive: true })
    for (const { file, text } of planted) writeFileSync(join(directory, file), text)
    const bank = openBank({ files })
    await bank.all()
    const consolidate = async () => ({ ended: "done", why: "", responses: [] }) as const
    const dreaming = new Dreaming({ ...{ bank, files, directory, project, consolidate }, clock: systemClock })
    const figures = { isOn: true, gapHours: 0, rescanMinutes: 0, conversations: 0, maxTurns: 1, dailyLimit: 0 }
    const start = performance.now()
    const end = await dreaming.dream({ figures, force: true })
    const milliseconds = performance.now() - start
    if (end.state === "pending") await dreaming.accept()
    const gone = (await bank.all()).filter((memory) => !isCurrent(memory))
    return { superseded: new Map(gone.map(({ file, supersededBy }) => [file, supersededBy!])), milliseconds }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}
