/**
 * What clearing does to a request: how many tokens it removes, how many come after the first change, and whether thinking is dropped too
 * because it is bound to what comes before it.
 */
import type { Uuid } from "../../messages/messages.ts"
import type { Clearing } from "./payback.ts"
import type { Survey } from "./survey.ts"

/** What is removed from the view. */
export interface Selection {
  readonly toolUseIds: readonly string[]
  readonly memories: readonly Uuid[]
}

/** The same, with sizes and places. */
export interface Located {
  readonly going: readonly { readonly saving: number; readonly before: number }[]
  /** Results deleted in the server's cache. They change here too, but save nothing: the model did not see them any more. */
  readonly moved: readonly { readonly before: number }[]
}

export interface Change extends Clearing {
  readonly dropsThinking: boolean
}

/** Memories that are cleared together with results: those before the newest result, which stays. */
export function memoriesToClear({ results, memories }: Survey): Survey["memories"] {
  const newest = results.at(-1)?.before ?? 0
  return memories.filter(({ saving, before }) => saving > 0 && before < newest)
}

export function locate({ toolUseIds, memories }: Selection, survey: Survey): Located {
  const ids = new Set(toolUseIds)
  const uuids = new Set(memories)
  return {
    going: [
      ...survey.results.filter(({ toolUseId }) => ids.has(toolUseId)),
      ...survey.memories.filter(({ uuid }) => uuids.has(uuid)),
    ],
    moved: survey.deleted.filter(({ toolUseId }) => ids.has(toolUseId)),
  }
}

export function changeBy({ going, moved }: Located, survey: Survey, boundThinking: boolean): Change {
  const first = Math.min(firstOf(going), firstOf(moved))
  const dropsThinking = boundThinking && (survey.thinking.at(-1)?.before ?? 0) > first
  const thinking = dropsThinking ? survey.thinking : []
  let removed = 0
  for (const { saving } of going) removed += saving
  for (const { tokens } of thinking) removed += tokens
  const changedAt = Math.min(first, thinking[0]?.before ?? first)
  return { removed, after: Math.max(0, survey.tokens - changedAt - removed), dropsThinking }
}

function firstOf(places: readonly { readonly before: number }[]): number {
  let first = Number.POSITIVE_INFINITY
  for (const { before } of places) first = Math.min(first, before)
  return first
}
