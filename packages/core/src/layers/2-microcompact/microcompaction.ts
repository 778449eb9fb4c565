/**
 * Layer 2: clears old tool results that a tool can produce again. It runs before every request and needs no model call: by time, inside the
 * server's cache, by size, or by asking the server. The table in this file decides which mechanisms apply, each one selects results in its
 * own file, and `clearing.ts` builds the decisions. Users can also clear manually.
 *
 * A result is cleared completely and once. Thinking that is bound to what comes before it is dropped with it. How a decision changes what
 * the model sees is in `context-state.ts`.
 */
import { formatNumber } from "../../base/text.ts"
import { yieldOnce } from "../../base/work.ts"
import type { DecisionDraft, DecisionOf, EntryDraft } from "../../journal/entries.ts"
import { findToolReferences, isMedia, isToolResult, isToolUse } from "../../messages/blocks.ts"
import { type Message, sentBlocks } from "../../messages/messages.ts"
import type { SwitchName } from "../../settings/flag-names.ts"
import type { Flags } from "../../settings/flags.ts"
import type { ModelAccepts } from "../../tokens/models.ts"
import { refusedMedia } from "../../views/context/context.ts"
import { parseAddress } from "../../views/record/decisions.ts"
import type { Layer, LayerContext, LayerResult, UpcomingCompaction } from "../layer.ts"
import { serverClearingExtras, triggerFor } from "./by-api.ts"
import {
  type ClearableContent,
  type ClearableResult,
  cacheState,
  isTracked,
  listAllClearableContent,
  listClearableContent,
} from "./clearable-content.ts"
import {
  cacheEditDecisions,
  cacheLossReason,
  clearing,
  NOTHING,
  OTHERS_CLEARED,
  type Selection,
  selectBySize,
  selectByTime,
} from "./clearing.ts"
import { overtakenBy, prunedIn } from "./prune.ts"

// Manual clearing: the user sets the size of the context, or removes the results of a tool, images, or results that later work has made
// obsolete. The oldest go first. Anything that the model has not answered yet stays. The decision is journaled like every other clearing
// and can be undone.

/** What to clear, for `clearResults`. */
export type ClearingTarget =
  /** Results of any tool, until the context has at most this many tokens. */
  | { readonly downTo: number }
  /** All results of one tool except the newest. Default for `keep`: the setting `size-clear-protect`. */
  | { readonly tool: string; readonly keep?: number }
  /** All images and documents. */
  | { readonly images: true }
  /** Results that later work has made obsolete, and the middle of very long results. */
  | { readonly prune: true }

export interface ManualClearing {
  readonly drafts: readonly DecisionDraft[]
  readonly results: number
  readonly shortened: number
  readonly images: number
  /** Tokens that must be written to the cache again. 0 if the cache is lost anyway. */
  readonly rewrites: number
}

export function clearManually(context: LayerContext, order: ClearingTarget): ManualClearing {
  if ("images" in order) return withhold(context)
  return "prune" in order ? prune(context) : clear(context, order, "asked")
}

function prune(context: LayerContext): ManualClearing {
  const found = listAllClearableContent(context)
  const smaller = new Set(found.results.filter(({ saving }) => saving > 0).map(({ toolUseId }) => toolUseId))
  const pruned = prunedIn(context).filter(({ toolUseId }) => smaller.has(toolUseId))
  const overtaken = Object.fromEntries(overtakenBy(pruned))
  const shortened = pruned.flatMap(({ cut }) => ("by" in cut ? [] : cut))
  const selection = { toolUseIds: Object.keys(overtaken), memories: [], overtaken, shortened }
  return clearSelection(context, { selection, why: "asked", found })
}

/** Clears the oldest results of any tool until a request fits again, and images if no result is left. */
export function clearBlocked(context: LayerContext): readonly DecisionDraft[] {
  const { drafts } = clear(context, { downTo: context.thresholds.blocking - 1 }, "size")
  return drafts.length > 0 ? drafts : withhold(context).drafts
}

function withhold(context: LayerContext): ManualClearing {
  const { views, facts } = context
  const drafts = refusedMedia(views.context, {
    which: "old",
    why: "left out on request",
    boundThinking: facts.accepts.boundThinking,
  }).map((draft) => (draft.subtype === "media-withheld" ? { ...draft, asked: true as const } : draft))
  const addresses = drafts.flatMap((draft) =>
    draft.subtype === "media-withheld" ? draft.blocks.map(({ address }) => address) : [],
  )
  return { drafts, results: 0, shortened: 0, images: addresses.length, rewrites: rewrittenTokens(context, addresses) }
}

/** Tokens from the first changed message on, which are written again. */
function rewrittenTokens(context: LayerContext, addresses: readonly string[]): number {
  const { context: view, estimator } = context.views
  const uuids = new Set(addresses.map((address) => parseAddress(address)?.uuid))
  const messages = view.storedMessages()
  const first = messages.findIndex(({ uuid }) => uuids.has(uuid))
  if (first < 0 || cacheState(context).state === "cold") return 0
  const blocks = messages.slice(first).flatMap((message) => sentBlocks(message))
  return Math.round(estimator.blocks(blocks.filter((block) => !isMedia(block))))
}

type ResultsTarget = Exclude<ClearingTarget, { images: true } | { prune: true }>

function clear(context: LayerContext, order: ResultsTarget, why: "asked" | "size"): ManualClearing {
  const found = listAllClearableContent(context)
  const results = found.results.filter(
    isClearable(context.views.context.storedMessages(), context.views.context.settled.count),
  )
  const chosen =
    "tool" in order
      ? resultsOfTool(results, {
          tools: toolsIn(context.views.context.storedMessages()),
          ...order,
          ...keepCount(order, context),
        })
      : oldestUntilFits(results, { excess: context.size.tokens - order.downTo, scale: found.scale })
  const selection = { toolUseIds: chosen.map(({ toolUseId }) => toolUseId), memories: [] }
  return clearSelection(context, { selection, why, found })
}

interface ManualSelection {
  readonly selection: Selection
  readonly why: "asked" | "size"
  readonly found: ClearableContent
}

function clearSelection(context: LayerContext, { selection, why, found }: ManualSelection): ManualClearing {
  const { toolUseIds, shortened = [] } = selection
  const counts = { results: toolUseIds.length, shortened: shortened.length, images: 0 }
  if (toolUseIds.length + shortened.length === 0) return { drafts: [], ...counts, rewrites: 0 }
  const drafts = clearing(context, selection, { why, found })
  const rewrites = drafts.find((draft) => draft.subtype === "tool-results-cleared")?.effect?.rewrites ?? 0
  return { drafts, ...counts, rewrites }
}

const keepCount = ({ keep }: { readonly keep?: number }, { flags }: LayerContext) => ({
  keep: keep ?? flags.figures["size-clear-protect"],
})

/** Whether a result may be cleared: the model has answered it, and it does not load a tool. */
function isClearable(messages: readonly Message[], answered: number): (result: ClearableResult) => boolean {
  const stay = new Set<string>()
  for (const [at, message] of messages.entries())
    for (const block of sentBlocks(message))
      if (isToolResult(block) && (at >= answered || findToolReferences(block).length > 0)) stay.add(block.tool_use_id)
  return ({ toolUseId, saving }) => saving > 0 && !stay.has(toolUseId)
}

function toolsIn(messages: readonly Message[]): ReadonlyMap<string, string> {
  return new Map(messages.flatMap((message) => sentBlocks(message).filter(isToolUse)).map(({ id, name }) => [id, name]))
}

interface ToolCriteria {
  readonly tools: ReadonlyMap<string, string>
  readonly tool: string
  readonly keep: number
}

function resultsOfTool(
  results: readonly ClearableResult[],
  { tools, tool, keep }: ToolCriteria,
): readonly ClearableResult[] {
  const own = results.filter(({ toolUseId }) => tools.get(toolUseId)?.toLowerCase() === tool.toLowerCase())
  return own.slice(0, Math.max(0, own.length - keep))
}

function oldestUntilFits(
  results: readonly ClearableResult[],
  { excess, scale }: { readonly excess: number; readonly scale: number },
): readonly ClearableResult[] {
  let left = excess
  const chosen: ClearableResult[] = []
  for (const result of results) {
    if (left <= 0) break
    chosen.push(result)
    left -= result.saving * scale
  }
  return chosen
}

interface MicrocompactionOptions {
  /** Called with the ids of results that are no longer in view, so that files they showed can be read again. */
  readonly onCleared?: (toolUseIds: readonly string[]) => void
  /** False in sub-agents: they share their parent's cache and must not delete in it. Default true. */
  readonly isMain?: boolean
  /** What a compaction with the ready summary would do now. Clearing shortly before it would be pointless. Default: nothing. */
  readonly compacts?: (context: LayerContext) => UpcomingCompaction | undefined
  /** False if the sender of requests strips `context_management` and `betas`. Default true. */
  readonly serverClears?: boolean
}

export function microcompaction(options: MicrocompactionOptions = {}): Layer {
  const { onCleared, compacts = () => undefined, isMain = true, serverClears = true } = options
  const conditions = { isMain, serverClears }
  const later = yieldOnce()
  return {
    name: "microcompact",

    beforeRequest: async (context) =>
      outcomeOf(chooseDecisions(context, activeMechanisms(context, conditions), compacts(context))),

    whenBlocked: async (context) => (context.flags.on["clear-by-size"] ? outcomeOf(clearBlocked(context)) : undefined),

    /** Measures new messages in the background, so that the next request need not. */
    async afterResponse({ views, flags }) {
      if (!isTracked(views)) return undefined
      await later()
      listClearableContent({ views, flags })
      return undefined
    },

    requestExtras(context, sender) {
      return activeMechanisms(context, conditions).has("by-api") ? serverClearingExtras(context, sender) : undefined
    },
  }

  function outcomeOf(drafts: readonly DecisionDraft[]): LayerResult | undefined {
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
  }
}

/** Estimate of the tokens that the next request will clear. */
export const expectedSaving = (context: LayerContext): number =>
  clearedIn(chooseDecisions(context, activeMechanisms(context, { isMain: true, serverClears: true }))).reduce(
    (sum, { effect }) => sum + (effect?.saves ?? 0),
    0,
  )

function messageFor(drafts: readonly EntryDraft[], saved: number): string {
  const decisions = clearedIn(drafts)
  const count = decisions.reduce((sum, { toolUseIds }) => sum + toolUseIds.length, 0)
  if (count === 0) return `Old images and documents were removed from the context: ${formatNumber(saved)} tokens saved.`
  const results = count === 1 ? "1 old tool result was" : `${count} old tool results were`
  const tokens = `${formatNumber(saved)} tokens saved.`
  if (decisions.some(({ why }) => why === "cache-edit")) return `${results} deleted in the server's cache: ${tokens}`
  const isMove = drafts.some(
    (draft) => draft.type === "strata" && draft.subtype === "cache-edits-dropped" && draft.why !== OTHERS_CLEARED,
  )
  return isMove
    ? `${results} cleared here, because the cache in which they were deleted is lost.`
    : `${results} cleared: ${tokens}`
}

/** Decisions of at most one mechanism. Deletions in a lost cache are repeated here first, whatever the switches say. */
function chooseDecisions(
  context: LayerContext,
  inForce: ReadonlySet<MechanismName>,
  compacts?: UpcomingCompaction,
): DecisionDraft[] {
  if (compacts?.isNow) return []
  const old = inForce.has("by-time") ? selectByTime(context) : NOTHING
  if (old.toolUseIds.length > 0) return clearing(context, old, { why: "idle" })
  const lost = cacheLossReason(context)
  if (lost !== undefined) return clearing(context, NOTHING, { why: "idle", lost })
  const deleted = inForce.has("by-cache-edit") ? cacheEditDecisions(context) : []
  if (deleted.length > 0) return deleted
  return inForce.has("by-size") ? clearing(context, selectBySize(context, compacts?.worth), { why: "size" }) : []
}

function activeMechanisms(
  context: LayerContext,
  { isMain, serverClears }: Required<Pick<MicrocompactionOptions, "isMain" | "serverClears">>,
): ReadonlySet<MechanismName> {
  const { facts, flags } = context
  const serverHasRoom = serverClears && triggerFor(context) > flags.figures["api-clear-keep"]
  return mechanismsFor({ accepts: facts.accepts, isMain, serverHasRoom }, flags)
}

type ClearingReason = DecisionOf<"tool-results-cleared">["why"]
const MECHANISM_NAMES: Readonly<Record<ClearingReason, string>> = {
  idle: "by-time",
  "cache-edit": "by-cache-edit",
  size: "by-size",
  asked: "by-hand",
  api: "by-api",
}

/** For telemetry: how many results each mechanism cleared. */
export function clearedCounts(drafts: readonly EntryDraft[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { why, toolUseIds } of clearedIn(drafts)) {
    const name = `results.cleared.${MECHANISM_NAMES[why]}`
    counts[name] = (counts[name] ?? 0) + toolUseIds.length
  }
  return counts
}

const clearedIn = (drafts: readonly EntryDraft[]): DecisionOf<"tool-results-cleared">[] =>
  drafts.flatMap((draft) => (draft.type === "strata" && draft.subtype === "tool-results-cleared" ? draft : []))

type MechanismName = "by-time" | "by-cache-edit" | "by-api" | "by-size"

/** Conditions that decide which mechanisms apply. */
interface MechanismConditions {
  readonly accepts: ModelAccepts
  /** Sub-agents read what their parent wrote to the cache, and must not delete in it. */
  readonly isMain: boolean
  /** Whether the window is large enough for the server to clear well before a compaction. */
  readonly serverHasRoom: boolean
}

interface Mechanism {
  readonly name: MechanismName
  readonly switch: SwitchName
  readonly fits: (here: MechanismConditions) => boolean
  /** Mechanisms that replace this one where they apply. */
  readonly insteadOf?: readonly MechanismName[]
  readonly why: string
}

/**
 * Which mechanism applies to which model. Of those that decide here, at most one acts before a request: the first in this table that has
 * something to do. Clearing by the server is additional.
 */
export const MECHANISM_POLICY: readonly Mechanism[] = [
  {
    name: "by-time",
    switch: "clear-by-time",
    fits: () => true,
    why: "after a long pause the cache is gone, so clearing costs nothing",
  },
  {
    name: "by-cache-edit",
    switch: "clear-by-cache-edit",
    fits: ({ accepts, isMain }) => accepts.cacheEditing && isMain,
    why: "results are deleted inside the cache: nothing changes here, and nothing is written again",
  },
  {
    name: "by-api",
    switch: "clear-by-api",
    fits: ({ accepts, serverHasRoom }) => accepts.contextManagement && serverHasRoom,
    why: "the server clears what it holds; nothing changes here, and thinking stays bound",
  },
  {
    name: "by-size",
    switch: "clear-by-size",
    fits: () => true,
    insteadOf: ["by-cache-edit", "by-api"],
    why: "the last resort before a compaction, and only where it pays",
  },
]

/** The active mechanisms, in the order of the table. */
export function mechanismsFor(here: MechanismConditions, { on }: Pick<Flags, "on">): ReadonlySet<MechanismName> {
  const inForce = new Set<MechanismName>()
  for (const { name, switch: flag, fits, insteadOf = [] } of MECHANISM_POLICY) {
    if (fits(here) && !insteadOf.some((other) => inForce.has(other)) && on[flag]) inForce.add(name)
  }
  return inForce
}
