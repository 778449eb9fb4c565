/** The figures of a compaction, fitted to the window: what is generous in a large window would fill a small one. */
import type { LayerContext } from "../layer.ts"
import type { KeepFigures } from "./cut.ts"
import type { FactsLimits } from "./facts/facts.ts"
import { FACTS_LIMITS } from "./facts/facts.ts"
import { type RestoreLimits, restoreLimits } from "./restore/restore.ts"

const USUAL_THRESHOLD = 167_000 // tokens: the figures are meant for a window of 200,000
const HOOKS_LIMIT = 10_000 // tokens of all that hooks say after a boundary: twice what a file gets
const SKILLS_SHARE = 1 / 3 // of the room for files and skills: the ratio of their limits
const RESTORED_SHARE = 0.4 // of the threshold: what is restored leaves room to work

export interface CompactionFigures {
  readonly keep: KeepFigures
  readonly facts: FactsLimits
  readonly restore: RestoreLimits
  /** Tokens of what hooks say after the boundary. */
  readonly hooks: number
  readonly failures: number
  /** Share of the context that a compaction must remove. */
  readonly progress: number
}

export function compactionFigures({ flags, thresholds }: Pick<LayerContext, "flags" | "thresholds">) {
  const share = Math.min(1, thresholds.autoCompact / USUAL_THRESHOLD)
  const part = (tokens: number) => Math.floor(tokens * share)
  const { figures } = flags
  const restore = restoreLimits(flags)
  return {
    keep: {
      least: part(figures["keep-least"]),
      most: part(figures["keep-most"]),
      messages: figures["keep-messages"],
    },
    facts: mapValues({ ...FACTS_LIMITS, names: figures["names-limit"] }, part),
    restore: { ...mapValues(restore, part), files: restore.files },
    hooks: part(HOOKS_LIMIT),
    failures: figures["compact-failures"],
    progress: figures["compact-progress"] / 100,
  } satisfies CompactionFigures
}

/** What may be restored so that the context as a whole stays well below the threshold. */
export function restoreWithin(
  limits: RestoreLimits,
  { threshold, used }: { threshold: number; used: number },
): RestoreLimits {
  const room = Math.max(0, Math.floor(threshold * RESTORED_SHARE - used))
  const allSkills = Math.min(limits.allSkills, Math.floor(room * SKILLS_SHARE))
  return { ...limits, allSkills, together: room }
}

const mapValues = <T extends object>(values: T, change: (value: number) => number): T =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value as number)])) as T
