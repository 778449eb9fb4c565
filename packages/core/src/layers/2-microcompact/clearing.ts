/**
 * Clears what was chosen: the decisions for the journal, and what they do to a request. That is how many tokens they remove, how many come
 * after the first change, and whether thinking is dropped too because it is bound to what comes before it.
 */
import type { DecisionDraft, OvertakenBy, ShortenedResult } from "../../journal/entries.ts"
import type { Uuid } from "../../messages/messages.ts"
import { previewedText } from "../../views/context/render-decisions.ts"
import type { Views } from "../../views/views.ts"
import type { LayerContext } from "../layer.ts"
import { cacheState } from "./cache-state.ts"
import { type Clearing, compactsItself } from "./payback.ts"
import { isShownLater } from "./prune.ts"
import { residuesOf } from "./residue.ts"
import { type Survey, survey } from "./survey.ts"

/** What is removed from the view. */
export interface Selection {
  readonly toolUseIds: readonly string[]
  readonly memories: readonly Uuid[]
  /** Why it pays, in one sentence. */
  readonly planned?: string
  /** What overtook the results, by call id. */
  readonly overtaken?: Readonly<Record<string, OvertakenBy>>
  /** Long results that are only shortened. */
  readonly shortened?: readonly ShortenedResult[]
}

export const NOTHING: Selection = { toolUseIds: [], memories: [] }

/**
 * The decisions that clear these results here. Results deleted in the server's cache are cleared with them, since that cache ends at the
 * first change and they would come back. Thinking that comes after that change, and is bound to it, is dropped as a whole.
 */
export function clearing(
  context: LayerContext,
  { toolUseIds, memories, planned, overtaken = {}, shortened = [] }: Selection,
  { why, lost = "", found: given }: HowCleared,
): DecisionDraft[] {
  const { views, facts } = context
  const deleted = views.context.cacheEdits.toolUseIds
  const selection = { toolUseIds: [...new Set([...deleted, ...toolUseIds])], memories }
  if (selection.toolUseIds.length + shortened.length === 0) return []
  const found = given ?? survey(context)
  const going = together([locate(selection, found), ...shortened.map((each) => shortening(each, found, views))])
  const { removed, after, dropsThinking } = changeBy(going, found, facts.accepts.boundThinking)
  const cache = cacheState(context)
  const saves = removed * found.scale
  const rewrites = cache.state === "cold" ? 0 : Math.round(after * found.scale)
  const avoidsCompaction = cache.state === "leaving" && saves > cache.excess && compactsItself(context)
  const effect = { saves: Math.round(saves), rewrites, ...(avoidsCompaction ? { spares: "compaction" as const } : {}) }
  const residues = residuesOf({
    messages: views.context.storedMessages(),
    estimator: views.estimator,
    original: (id) => views.context.originalResult(id),
    toolUseIds: selection.toolUseIds.filter((id) => !overtaken[id] || !isShownLater(overtaken[id])),
  })
  return [
    ...(deleted.length > 0 ? [dropped(toolUseIds.length + shortened.length > 0 ? WITH_OTHERS : lost)] : []),
    {
      type: "strata",
      subtype: "tool-results-cleared",
      toolUseIds: selection.toolUseIds,
      why,
      ...(planned === undefined ? {} : { planned }),
      ...(Object.keys(residues).length > 0 ? { residues } : {}),
      ...(Object.keys(overtaken).length > 0 ? { overtaken } : {}),
      ...(shortened.length > 0 ? { shortened } : {}),
      effect,
      ...(memories.length > 0 ? { attachments: memories } : {}),
    },
    ...(dropsThinking ? [THINKING_DROPPED] : []),
  ]
}

interface HowCleared {
  readonly why: "idle" | "size" | "asked"
  /** Why the cache that results were deleted in is gone. */
  readonly lost?: string
  /** What there is to clear, where it is not only what the layer clears by itself. */
  readonly found?: Survey
}

/** Why deletions in the server's cache ended. */
export const WITH_OTHERS = "other results were cleared"
const dropped = (why: string): DecisionDraft => ({ type: "strata", subtype: "cache-edits-dropped", why })
const THINKING_DROPPED: DecisionDraft = {
  type: "strata",
  subtype: "thinking-dropped",
  why: "tool results before it were cleared",
}

/** What a selection comes to. */
interface Going {
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

export function locate({ toolUseIds, memories }: Selection, found: Survey): Going {
  const ids = new Set(toolUseIds)
  const uuids = new Set(memories)
  return together([
    ...found.results.filter(({ toolUseId }) => ids.has(toolUseId)).map(goingAlone),
    ...found.memories.filter(({ uuid }) => uuids.has(uuid)).map(goingAlone),
    ...found.deleted.filter(({ toolUseId }) => ids.has(toolUseId)).map(({ before }) => ({ saving: 0, first: before })),
  ])
}

/** A part of the result goes, as many of its tokens as of its characters. */
function shortening({ toolUseId, head, tail }: ShortenedResult, { results }: Survey, { context }: Views): Going {
  const result = results.find((each) => each.toolUseId === toolUseId)
  const original = context.originalResult(toolUseId)
  const length = original ? previewedText(original).length : 0
  return result && length > 0
    ? { saving: result.tokens * (1 - Math.min(1, (head + tail) / length)), first: result.before }
    : together([])
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

export function changeBy({ saving, first }: Going, found: Survey, boundThinking: boolean): Change {
  const last = found.thinking.at(-1)
  const dropsThinking = boundThinking && (last?.before ?? 0) > first
  const removed = saving + (dropsThinking ? last!.upTo : 0)
  const changedAt = dropsThinking ? Math.min(first, found.thinking[0]!.before) : first
  return { removed, after: Math.max(0, found.tokens - changedAt - removed), dropsThinking }
}
