/**
 * Layer 2: clears old tool results that can be had again, before every request and at no cost: by time, inside the server's cache, by
 * size, or by asking the server. Which of them applies is in `policy.ts`; each plans in a file of its own, and this one carries plans out.
 *
 * A result is cleared whole and once. Where thinking is bound to what stands before it, the thinking goes along (L2-11, CACHE-6).
 */
import type { DecisionDraft, DecisionOf, Draft } from "../../journal/entries.ts"
import type { Layer, Turn } from "../layer.ts"
import { editsForServer, serverTrigger } from "./by-api.ts"
import { planByCacheEdit } from "./by-cache-edit.ts"
import { planBySize } from "./by-size.ts"
import { idleMinutes, planByTime } from "./by-time.ts"
import { cacheLifetime, cacheState } from "./cache-state.ts"
import { changeBy, locate, memoriesAlong, type Selection } from "./changes.ts"
import { compactsItself } from "./compacts-itself.ts"
import { whyLost } from "./lost-edits.ts"
import { turnsSincePause } from "./pauses.ts"
import { cachePrices } from "./payback.ts"
import { type MechanismName, mechanismsFor } from "./policy.ts"
import { remainingTurns } from "./remaining-turns.ts"
import { serverMovesOn } from "./server-moves-on.ts"
import { survey } from "./survey.ts"

export interface MicrocompactionOptions {
  /** Hears which results are no longer in view, so that files they showed can be read again (L2-7). */
  readonly onCleared?: (toolUseIds: readonly string[]) => void
  /** False in sub-agents: they share their parent's cache and must not delete in it (L2-2). Default true. */
  readonly isMain?: boolean
  /** False where requests are sent by someone who leaves `context_management` and `betas` out (L2-5). Default true. */
  readonly serverClears?: boolean
}

export function microcompaction({ onCleared, isMain = true, serverClears = true }: MicrocompactionOptions = {}): Layer {
  return {
    name: "microcompact",

    async beforeRequest(turn) {
      const drafts = await decide(turn, await mechanismsHere(turn, { isMain, serverClears }))
      const cleared = clearedIn(drafts).flatMap(({ toolUseIds }) => toolUseIds)
      if (cleared.length > 0) onCleared?.(cleared)
      return drafts
    },

    async requestExtras(turn) {
      const { facts, flags, views, now, size } = turn
      if (!(await mechanismsHere(turn, { isMain, serverClears })).has("by-api")) return undefined
      const gapMinutes = await flags.figure("idle-gap")
      const trigger = await triggerFor(turn)
      return editsForServer({
        accepts: facts.accepts,
        tools: toolNames(views.context.prompt?.tools),
        turnsSincePause: () => turnsSincePause({ views, now, gapMinutes }),
        trigger,
        clearable: flags.clearableTools ?? [],
        keep: await flags.figure("api-clear-keep"),
        leave: size.tokens >= trigger && (await serverMovesOn(turn)) ? undefined : views.context.serverKept.count,
      })
    },

    describe(drafts, { saved }) {
      const decisions = clearedIn(drafts)
      const count = decisions.reduce((sum, { toolUseIds }) => sum + toolUseIds.length, 0)
      const results = count === 1 ? "1 old tool result was" : `${count} old tool results were`
      const tokens = `${saved.toLocaleString("en-US")} tokens saved.`
      if (decisions.some(({ why }) => why === "cache-edit"))
        return `${results} deleted in the server's cache: ${tokens}`
      const isMove = drafts.some(
        (draft) => draft.type === "strata" && draft.subtype === "cache-edits-dropped" && draft.why !== WITH_OTHERS,
      )
      return isMove
        ? `${results} cleared here: the cache they were deleted in is gone.`
        : `${results} cleared: ${tokens}`
    },
  }
}

/** L2-12: at most one of them acts. Deletions in a cache that is gone are made good first, whatever is switched on. */
async function decide(turn: Turn, inForce: ReadonlySet<MechanismName>): Promise<DecisionDraft[]> {
  const byTime = inForce.has("by-time") ? await selectByTime(turn) : NOTHING
  if (byTime.toolUseIds.length > 0) return clearing(turn, byTime, "idle")
  if (whyLost(turn) !== undefined) return clearing(turn, NOTHING, "idle")
  const byCacheEdit = inForce.has("by-cache-edit") ? await deletions(turn) : []
  if (byCacheEdit.length > 0) return byCacheEdit
  return inForce.has("by-size") ? clearing(turn, await selectBySize(turn), "size") : []
}

const NOTHING: Selection = { toolUseIds: [], memories: [] }

async function mechanismsHere(
  turn: Turn,
  { isMain, serverClears }: Required<Pick<MicrocompactionOptions, "isMain" | "serverClears">>,
): Promise<ReadonlySet<MechanismName>> {
  const { facts, flags } = turn
  const serverHasRoom = serverClears && (await triggerFor(turn)) > (await flags.figure("api-clear-keep"))
  return mechanismsFor({ accepts: facts.accepts, isMain, serverHasRoom }, flags)
}

async function triggerFor({ flags, thresholds }: Turn): Promise<number> {
  return serverTrigger({ most: await flags.figure("api-clear-trigger"), autoCompact: thresholds.autoCompact })
}

async function selectByTime(turn: Turn): Promise<Selection> {
  const { views, flags, now } = turn
  if (idleMinutes(views.context.lastResponse, now) <= (await flags.figure("idle-gap"))) return NOTHING
  const found = survey(turn)
  const toolUseIds = planByTime(found.results, await flags.figure("idle-keep"))
  return { toolUseIds, memories: memoriesAlong(found).map(({ uuid }) => uuid) }
}

async function selectBySize(turn: Turn): Promise<Selection> {
  const { flags, facts, fill, thresholds, views } = turn
  if (fill.used < thresholds.warning) return NOTHING
  const plan = planBySize({
    survey: survey(turn),
    figures: {
      keep: await flags.figure("size-clear-keep"),
      least: await flags.figure("size-clear-least"),
      protect: await flags.figure("size-clear-protect"),
    },
    cache: cacheState(turn),
    compacts: await compactsItself(turn),
    prices: cachePrices(facts, { tokens: fill.used, lifetime: cacheLifetime(views) }),
    horizon: await remainingTurns(turn),
    boundThinking: facts.accepts.boundThinking,
  })
  return plan.clears ? plan.selection : NOTHING
}

/** A cold cache, or one that is only being written again, has nothing to delete in; and where the assistant spoke last there is no place for it. */
async function deletions(turn: Turn): Promise<DecisionDraft[]> {
  const { views, flags } = turn
  const { endsWithUser, cacheEdits } = views.context
  if (cacheState(turn).state === "cold" || cacheEdits.justDropped || !endsWithUser) return []
  const found = survey(turn)
  const figures = { active: await flags.figure("cache-edit-active"), keep: await flags.figure("cache-edit-keep") }
  const toolUseIds = planByCacheEdit(found.results, figures)
  if (toolUseIds.length === 0) return []
  const { removed } = changeBy(locate({ toolUseIds, memories: [] }, found), found, false)
  const effect = { saves: Math.round(removed * found.scale), rewrites: 0 }
  return [{ type: "strata", subtype: "tool-results-cleared", toolUseIds, why: "cache-edit", effect }]
}

/**
 * The decisions that clear these results here. What was deleted in the server's cache is cleared along, since that cache ends at the first
 * place that changes: nothing comes back. Thinking that stands behind that place, and is bound to it, is dropped as a whole.
 */
async function clearing(
  turn: Turn,
  { toolUseIds, memories }: Selection,
  why: "idle" | "size",
): Promise<DecisionDraft[]> {
  const { views, facts } = turn
  const deleted = views.context.cacheEdits.toolUseIds
  const selection = { toolUseIds: [...new Set([...deleted, ...toolUseIds])], memories }
  if (selection.toolUseIds.length === 0) return []
  const found = survey(turn)
  const { removed, behind, dropsThinking } = changeBy(locate(selection, found), found, facts.accepts.boundThinking)
  const cache = cacheState(turn)
  const saves = removed * found.scale
  const rewrites = cache.state === "cold" ? 0 : Math.round(behind * found.scale)
  const isSpared = cache.state === "leaving" && saves > cache.excess && (await compactsItself(turn))
  const effect = { saves: Math.round(saves), rewrites, ...(isSpared ? ({ spares: "compaction" } as const) : {}) }
  return [
    ...(deleted.length > 0 ? [dropped(toolUseIds.length > 0 ? WITH_OTHERS : (whyLost(turn) ?? ""))] : []),
    {
      ...{ type: "strata", subtype: "tool-results-cleared", toolUseIds: selection.toolUseIds, why, effect },
      ...(memories.length > 0 ? { attachments: memories } : {}),
    },
    ...(dropsThinking ? [THINKING_DROPPED] : []),
  ]
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

const toolNames = (tools: unknown): readonly string[] =>
  Array.isArray(tools) ? tools.map(({ name }: { name: unknown }) => String(name)) : []
