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

/** What that comes to. */
export interface Going {
  /** Tokens. Results deleted in the server's cache save nothing: the model did not see them any more. */
  readonly saving: number
  /** Where the first of it is. Results deleted in the server's cache count: they change here too. */
  readonly first: number
}

export interface Change extends Clearing {
  readonly dropsThinking: boolean
}

/** Memories that are cleared together with results: those before the newest result, which stays. */
export function memoriesToClear({ results, memories }: Survey): Survey["memories"] {
  const newest = results.at(-1)?.before ?? 0
  return memories.filter(({ saving, before }) => saving > 0 && before < newest)
}

export function locate({ toolUseIds, memories }: Selection, survey: Survey): Going {
  const ids = new Set(toolUseIds)
  const uuids = new Set(memories)
  return together([
    ...survey.results.filter(({ toolUseId }) => ids.has(toolUseId)).map(goingAlone),
    ...survey.memories.filter(({ uuid }) => uuids.has(uuid)).map(goingAlone),
    ...survey.deleted.filter(({ toolUseId }) => ids.has(toolUseId)).map(({ before }) => ({ saving: 0, first: before })),
  ])
}

export const goingAlone = ({ saving, before }: { readonly saving: number; readonly before: number }): Going => ({
  saving,
  first: before,
})

export function together(parts: readonly Going[]): Going {
  let saving = 0
  let first = Number.POSITIVE_INFINITY
  for (const part of parts) {
    saving += part.saving
    first = Math.min(first, part.first)
  }
  return { saving, first }
}

export function changeBy({ saving, first }: Going, survey: Survey, boundThinking: boolean): Change {
  const last = survey.thinking.at(-1)
  const dropsThinking = boundThinking && (last?.before ?? 0) > first
  const removed = saving + (dropsThinking ? last!.upTo : 0)
  const changedAt = dropsThinking ? Math.min(first, survey.thinking[0]!.before) : first
  return { removed, after: Math.max(0, survey.tokens - changedAt - removed), dropsThinking }
}
