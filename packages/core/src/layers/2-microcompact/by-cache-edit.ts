/**
 * L2-2: where the model can, old results are deleted inside the server's cache. Nothing changes here and nothing is written again; the
 * request asks for the deletion, and asks again at the same place as long as that cache lives.
 */
import type { ClearableResult } from "./survey.ts"

export interface CacheEditFigures {
  /** So many results that the model still sees start a deletion. */
  readonly active: number
  /** So many of the newest stay. */
  readonly keep: number
}

/** Ids to delete, oldest first. A result that is smaller than a marker is left alone: it may have to be cleared here later. */
export function planByCacheEdit(results: readonly ClearableResult[], figures: CacheEditFigures): readonly string[] {
  const active = results.filter(({ saving }) => saving > 0)
  if (active.length < figures.active) return []
  return active.slice(0, Math.max(0, active.length - Math.max(1, figures.keep))).map(({ toolUseId }) => toolUseId)
}
