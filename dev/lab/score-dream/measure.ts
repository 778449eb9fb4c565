/** Dreams over a generated bank by rule alone, and counts the memories that left the view. */
import { isCurrentMemory as isCurrent } from "@strata/core/memory"
import { checkConsolidation } from "../../../packages/core/src/layers/6-dreaming/check/check.ts"
import { parseMemory } from "../../../packages/core/src/memory/topic-file.ts"
import { bankFor, type Material, type PlantedMemories } from "./generate.ts"

const NOW = new Date("2026-05-01T00:00:00.000Z")

export interface DreamScores {
  memories: number
  /** True facts that no current memory states any more. */
  trueOutOfView: number
  repeated: Share
  reworded: Share
  outdated: Share
  outdatedInSameWords: Share
  /** Outdated memories that stay in view, with a note that a later one may contradict them. */
  inDoubt: number
  /** True facts with such a note. The next field counts those where the note names a memory of another fact. */
  trueInDoubt: number
  trueInDoubtAstray: number
  milliseconds: number
  /** Sentences about each mistake. The next field has those about each omission. */
  mistakes: string[]
  missed: string[]
}
interface Share {
  found: number
  of: number
}

export const noScores = (): DreamScores => ({
  ...{
    inDoubt: 0,
    trueInDoubt: 0,
    trueInDoubtAstray: 0,
    memories: 0,
    trueOutOfView: 0,
    milliseconds: 0,
    mistakes: [],
    missed: [],
  },
  ...{ repeated: { found: 0, of: 0 }, reworded: { found: 0, of: 0 }, outdated: { found: 0, of: 0 } },
  outdatedInSameWords: { found: 0, of: 0 },
})

export async function measureDream(
  material: Material,
  { seed, size, scores }: { readonly seed: number; readonly size: number; readonly scores: DreamScores },
): Promise<void> {
  const planted = bankFor(material, { seed, size })
  const { superseded, doubted, milliseconds } = await dreamOver(planted)
  scores.memories += planted.length
  scores.milliseconds += milliseconds
  const bodies = new Map(planted.map(({ file, text }) => [file, text.split("---\n\n")[1]!.trim()]))
  for (const [fact, group] of Map.groupBy(planted, ({ fact }) => fact)) {
    const isSeen = group.some(({ file, isTrue }) => isTrue && !superseded.has(file))
    // a memory that was replaced by one of another fact is out of view, even if its own fact is stated elsewhere
    const astray = group.filter(
      ({ file, isTrue }) =>
        isTrue && superseded.has(file) && planted.find((one) => one.file === superseded.get(file))?.fact !== fact,
    )
    if (!isSeen || astray.length > 0) scores.trueOutOfView++
    for (const { file } of isSeen ? astray : group.filter(({ isTrue }) => isTrue))
      scores.mistakes.push(`${bodies.get(file)} → ${bodies.get(superseded.get(file) ?? "") ?? "nothing"}`)
    for (const { file } of group.filter((one) => one.isTrue && doubted.has(one.file))) {
      scores.trueInDoubt++
      if (planted.find((one) => one.file === doubted.get(file))?.fact === fact) continue
      scores.trueInDoubtAstray++
      scores.mistakes.push(`in doubt: ${bodies.get(file)} → ${bodies.get(doubted.get(file)!)}`)
    }
    for (const kind of ["repeated", "reworded"] as const) {
      if (!group.some((one) => one.kind === kind)) continue
      scores[kind].of++
      const isMerged = group.some(({ file }) => superseded.has(file))
      scores[kind].found += Number(isMerged)
      if (!isMerged) scores.missed.push(`${kind}: ${group.map(({ file }) => bodies.get(file)).join(" | ")}`)
    }
    for (const { file, way } of group.filter(({ isTrue }) => !isTrue)) {
      const isSame = group.some((one) => one.isTrue && one.way === way)
      for (const share of isSame ? [scores.outdated, scores.outdatedInSameWords] : [scores.outdated]) {
        share.of++
        share.found += Number(superseded.has(file) || doubted.has(file))
      }
      scores.inDoubt += Number(doubted.has(file))
      if (!superseded.has(file) && !doubted.has(file))
        scores.missed.push(`outdated: ${group.map((one) => bodies.get(one.file)).join(" | ")}`)
    }
  }
}

/** Returns the files that a dream takes out of view, with their replacements. This part of a dream uses no model. */
async function dreamOver(planted: readonly PlantedMemories[]) {
  const base = new Map(planted.map(({ file, text }) => [file, text]))
  const facts = { created: "2026-01-01", source: { saidBy: "agent" } } as const
  const before = await Promise.all(planted.map(({ file, text }) => parseMemory({ file, text, facts })))
  const start = process.cpuUsage()
  const checked = await checkConsolidation({ base, before, changed: new Map(), now: NOW, projectHas: () => false })
  const { user, system } = process.cpuUsage(start)
  if (checked.state === "refused") throw new Error(checked.reason)
  const gone = checked.after.filter((memory) => !isCurrent(memory))
  const inDoubt = checked.after.filter((memory) => isCurrent(memory) && memory.doubtedBy !== undefined)
  return {
    doubted: new Map(inDoubt.map(({ file, doubtedBy }) => [file, doubtedBy!])),
    superseded: new Map(gone.map(({ file, supersededBy }) => [file, supersededBy!])),
    milliseconds: (user + system) / 1_000,
  }
}
