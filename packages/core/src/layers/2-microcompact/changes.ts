/**
 * What clearing does to a request: which tokens go, how many stand behind the first place that changes, and whether thinking goes along
 * because it is bound to what stands before it (L2-11, CACHE-6).
 */
import type { Uuid } from "../../messages/messages.ts"
import type { Clearing } from "./payback.ts"
import type { Survey } from "./survey.ts"

/** What is to go from the view. */
export interface Selection {
  readonly toolUseIds: readonly string[]
  readonly memories: readonly Uuid[]
}

/** The same with its sizes and places. */
export interface Located {
  readonly going: readonly { readonly saving: number; readonly before: number }[]
  /** Results that were deleted in the server's cache change here, too, but take nothing away: the model did not see them any more. */
  readonly moved: readonly { readonly before: number }[]
}

export interface Change extends Clearing {
  readonly dropsThinking: boolean
}

/** Memories that are cleared along with results: those before the newest result, which stays (L2-7). */
export function memoriesAlong({ results, memories }: Survey): Survey["memories"] {
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
  return { removed, behind: Math.max(0, survey.tokens - changedAt - removed), dropsThinking }
}

function firstOf(places: readonly { readonly before: number }[]): number {
  let first = Number.POSITIVE_INFINITY
  for (const { before } of places) first = Math.min(first, before)
  return first
}
