/**
 * Layer 2: clears old tool results that a tool can produce again. It runs before every request and costs no model call: by time, inside
 * the server's cache, by size, or by asking the server. `policy.ts` decides which of these applies; each plans in a file of its own, and
 * this one carries the plans out.
 *
 * A result is cleared whole and once. Where thinking is bound to what comes before it, the thinking is dropped too.
 */
import { grouped } from "../../base/grouped.ts"
import type { DecisionDraft, DecisionOf, Draft } from "../../journal/entries.ts"
import type { Layer, LayerContext, Outcome } from "../layer.ts"
import { editsForServer, serverMovesOn, serverTrigger } from "./by-api.ts"
import { planByCacheEdit, whyLost } from "./by-cache-edit.ts"
import { planBySize } from "./by-size.ts"
import { idleMinutes, planByTime, turnsSincePause } from "./by-time.ts"
import { cacheLifetime, cacheState } from "./cache-state.ts"
import { changeBy, locate, memoriesToClear, type Selection } from "./changes.ts"
import { cachePrices, compactsItself, remainingTurns } from "./payback.ts"
import { type MechanismName, mechanismsFor } from "./policy.ts"
import { residuesOf } from "./residue.ts"
import { type Survey, survey } from "./survey.ts"

export interface MicrocompactionOptions {
  /** Called with the results that are no longer in view, so that files they showed can be read again. */
  readonly onCleared?: (toolUseIds: readonly string[]) => void
  /** False in sub-agents: they share their parent's cache and must not delete in it. Default true. */
  readonly isMain?: boolean
  /** False where the sender of requests leaves `context_management` and `betas` out. Default true. */
  readonly serverClears?: boolean
}

export function microcompaction({ onCleared, isMain = true, serverClears = true }: MicrocompactionOptions = {}): Layer {
  const place = { isMain, serverClears }
  return {
    name: "microcompact",

    async beforeRequest(context): Promise<Outcome | undefined> {
      const drafts = decide(context, mechanismsHere(context, place))
      if (drafts.length === 0) return undefined
      const cleared = clearedIn(drafts).flatMap(({ toolUseIds }) => toolUseIds)
      return {
        drafts,
        message: ({ saved }) => messageFor(drafts, saved),
        counts: clearedCounts(drafts),
        async journaled() {
          if (cleared.length > 0) onCleared?.(cleared)
        },
      }
    },

    requestExtras(context, sender) {
      const { facts, flags, views, now } = context
      if (!mechanismsHere(context, place).has("by-api")) return undefined
      const trigger = triggerFor(context)
      return editsForServer({
        accepts: facts.accepts,
        tools: views.context.toolNames,
        turnsSincePause: () => turnsSincePause({ views, now, gapMinutes: flags.figures["idle-gap"] }),
        trigger,
        clearable: flags.clearableTools,
        keep: flags.figures["api-clear-keep"],
        keepCalls: sender === "fork" ? views.context.serverKept.inCache : callsToKeep(context, trigger),
      })
    },
  }
}

/** The server moves on only with a request of the conversation, whose next requests read what that writes. */
function callsToKeep(context: LayerContext, trigger: number): number | undefined {
  const { size, views } = context
  return size.tokens >= trigger && serverMovesOn(context) ? undefined : views.context.serverKept.count
}

function messageFor(drafts: readonly Draft[], saved: number): string {
  const decisions = clearedIn(drafts)
  const count = decisions.reduce((sum, { toolUseIds }) => sum + toolUseIds.length, 0)
  const results = count === 1 ? "1 old tool result was" : `${count} old tool results were`
  const tokens = `${grouped(saved)} tokens saved.`
  if (decisions.some(({ why }) => why === "cache-edit")) return `${results} deleted in the server's cache: ${tokens}`
  const isMove = drafts.some(
    (draft) => draft.type === "strata" && draft.subtype === "cache-edits-dropped" && draft.why !== WITH_OTHERS,
  )
  return isMove ? `${results} cleared here: the cache they were deleted in is gone.` : `${results} cleared: ${tokens}`
}

/** At most one mechanism acts. Deletions in a cache that is gone are repeated here first, with any switches. */
function decide(context: LayerContext, inForce: ReadonlySet<MechanismName>): DecisionDraft[] {
  const byTime = inForce.has("by-time") ? selectByTime(context) : NOTHING
  if (byTime.toolUseIds.length > 0) return clearing(context, byTime, { why: "idle" })
  if (whyLost(context) !== undefined) return clearing(context, NOTHING, { why: "idle" })
  const byCacheEdit = inForce.has("by-cache-edit") ? deletions(context) : []
  if (byCacheEdit.length > 0) return byCacheEdit
  return inForce.has("by-size") ? clearing(context, selectBySize(context), { why: "size" }) : []
}

const NOTHING: Selection = { toolUseIds: [], memories: [] }

function mechanismsHere(
  context: LayerContext,
  { isMain, serverClears }: Required<Pick<MicrocompactionOptions, "isMain" | "serverClears">>,
): ReadonlySet<MechanismName> {
  const { facts, flags } = context
  const serverHasRoom = serverClears && triggerFor(context) > flags.figures["api-clear-keep"]
  return mechanismsFor({ accepts: facts.accepts, isMain, serverHasRoom }, flags)
}

function triggerFor({ flags, thresholds }: LayerContext): number {
  return serverTrigger({ most: flags.figures["api-clear-trigger"], autoCompact: thresholds.autoCompact })
}

function selectByTime(context: LayerContext): Selection {
  const { views, flags, now } = context
  const isLongPause = idleMinutes(views.context.lastResponse, now) > flags.figures["idle-gap"]
  if (!isLongPause && !isGone(context)) return NOTHING
  const found = survey(context)
  const toolUseIds = planByTime(found.results, flags.figures["idle-keep"])
  if (!isLongPause && savedBy(found, toolUseIds) < LEAST_WHEN_COLD) return NOTHING
  return { toolUseIds, memories: memoriesToClear(found).map(({ uuid }) => uuid) }
}

const LEAST_WHEN_COLD = 5_000 // tokens: for less, results are not taken from the view

/** For the planner a cache that is gone is enough: what is cleared now is not written again. */
const isGone = (context: LayerContext): boolean =>
  context.flags.planner !== "off" &&
  context.views.context.lastResponse !== undefined &&
  cacheState(context).state === "cold"

function savedBy({ results }: Survey, toolUseIds: readonly string[]): number {
  const ids = new Set(toolUseIds)
  return results.reduce((sum, { toolUseId, saving }) => sum + (ids.has(toolUseId) ? saving : 0), 0)
}

function selectBySize(context: LayerContext): Selection {
  const { flags, facts, fill, thresholds, views } = context
  const found = survey(context) // also where it is early: the turn that reaches the threshold must not read everything
  if (fill.used < thresholds.warning) return NOTHING
  const plan = planBySize({
    survey: found,
    figures: {
      keep: flags.figures["size-clear-keep"],
      least: flags.figures["size-clear-least"],
      protect: flags.figures["size-clear-protect"],
    },
    cache: cacheState(context),
    compacts: compactsItself(context),
    prices: cachePrices(facts, { tokens: fill.used, lifetime: cacheLifetime(views) }),
    horizon: remainingTurns(context),
    boundThinking: facts.accepts.boundThinking,
  })
  return plan.clears ? plan.selection : NOTHING
}

/** A cold cache, or one that is just being written again, holds nothing to delete. The request asks for deletions in its last user message. */
function deletions(context: LayerContext): DecisionDraft[] {
  const { views, flags } = context
  const { endsWithUser, cacheEdits } = views.context
  if (cacheState(context).state === "cold" || cacheEdits.justDropped || !endsWithUser) return []
  const found = survey(context)
  const figures = { active: flags.figures["cache-edit-active"], keep: flags.figures["cache-edit-keep"] }
  const toolUseIds = planByCacheEdit(found.results, figures)
  if (toolUseIds.length === 0) return []
  const { removed } = changeBy(locate({ toolUseIds, memories: [] }, found), found, false)
  const effect = { saves: Math.round(removed * found.scale), rewrites: 0 }
  return [{ type: "strata", subtype: "tool-results-cleared", toolUseIds, why: "cache-edit", effect }]
}

/**
 * The decisions that clear these results here. Results deleted in the server's cache are cleared with them, since that cache ends at the
 * first change and they would come back. Thinking that comes after that change, and is bound to it, is dropped as a whole.
 */
export function clearing(
  context: LayerContext,
  { toolUseIds, memories }: Selection,
  { why, found: given }: HowCleared,
): DecisionDraft[] {
  const { views, facts } = context
  const deleted = views.context.cacheEdits.toolUseIds
  const selection = { toolUseIds: [...new Set([...deleted, ...toolUseIds])], memories }
  if (selection.toolUseIds.length === 0) return []
  const found = given ?? survey(context)
  const { removed, after, dropsThinking } = changeBy(locate(selection, found), found, facts.accepts.boundThinking)
  const cache = cacheState(context)
  const saves = removed * found.scale
  const rewrites = cache.state === "cold" ? 0 : Math.round(after * found.scale)
  const avoidsCompaction = cache.state === "leaving" && saves > cache.excess && compactsItself(context)
  const effect = { saves: Math.round(saves), rewrites, ...(avoidsCompaction ? { spares: "compaction" as const } : {}) }
  const limit = context.flags.figures["residue-limit"]
  const residues = residuesOf({ views, toolUseIds: selection.toolUseIds, limit })
  return [
    ...(deleted.length > 0 ? [dropped(toolUseIds.length > 0 ? WITH_OTHERS : (whyLost(context) ?? ""))] : []),
    {
      type: "strata",
      subtype: "tool-results-cleared",
      toolUseIds: selection.toolUseIds,
      why,
      ...(Object.keys(residues).length > 0 ? { residues } : {}),
      effect,
      ...(memories.length > 0 ? { attachments: memories } : {}),
    },
    ...(dropsThinking ? [THINKING_DROPPED] : []),
  ]
}

interface HowCleared {
  readonly why: "idle" | "size" | "asked"
  /** What there is to clear, where it is not only what the layer clears by itself. */
  readonly found?: Survey
}

type WhyCleared = DecisionOf<"tool-results-cleared">["why"]
const MECHANISMS: Readonly<Record<WhyCleared, string>> = {
  idle: "by-time",
  "cache-edit": "by-cache-edit",
  size: "by-size",
  asked: "by-hand",
  api: "by-api",
}

/** For telemetry: how many results each mechanism cleared. */
export function clearedCounts(drafts: readonly Draft[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { why, toolUseIds } of clearedIn(drafts)) {
    const name = `results.cleared.${MECHANISMS[why]}`
    counts[name] = (counts[name] ?? 0) + toolUseIds.length
  }
  return counts
}

const WITH_OTHERS = "other results were cleared"
const dropped = (why: string): DecisionDraft => ({ type: "strata", subtype: "cache-edits-dropped", why })
const THINKING_DROPPED: DecisionDraft = {
  type: "strata",
  subtype: "thinking-dropped",
  why: "tool results before it were cleared",
}

const clearedIn = (drafts: readonly Draft[]): DecisionOf<"tool-results-cleared">[] =>
  drafts.flatMap((draft) => (draft.type === "strata" && draft.subtype === "tool-results-cleared" ? draft : []))
