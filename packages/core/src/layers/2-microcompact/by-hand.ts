/**
 * Clearing by hand: a person says how small the context should be, or whether the results of a tool, images, or results that later work has
 * overtaken should go. Oldest first. What the model has not answered yet always stays. It is decided and journaled like every other
 * clearing, and can be undone.
 */
import type { DecisionDraft } from "../../journal/entries.ts"
import { isMedia, isToolResult, isToolUse } from "../../messages/blocks.ts"
import type { Message } from "../../messages/messages.ts"
import { sentBlocks } from "../../messages/sent-blocks.ts"
import { referencesIn } from "../../messages/tool-references.ts"
import { refusedMedia } from "../../views/context/withheld-media.ts"
import { parseAddress } from "../../views/record/archive.ts"
import type { LayerContext } from "../layer.ts"
import { cacheState } from "./cache-state.ts"
import { clearing, type Selection } from "./clearing.ts"
import { overtakenBy, prunedIn } from "./prune.ts"
import { type ClearableResult, type Survey, surveyAll } from "./survey.ts"

/** What to clear. */
export type ClearingOrder =
  /** Results of any tool, until the context has at most this many tokens. */
  | { readonly downTo: number }
  /** All results of one tool but the newest. Default for `keep`: the figure `size-clear-protect`. */
  | { readonly tool: string; readonly keep?: number }
  /** Images and documents. */
  | { readonly images: true }
  /** Results that later work has overtaken, and the middle of very long ones. */
  | { readonly prune: true }

export interface ByHand {
  readonly drafts: readonly DecisionDraft[]
  readonly results: number
  readonly shortened: number
  readonly images: number
  /** Tokens that must be written to the cache again. 0 where the cache is gone anyway. */
  readonly rewrites: number
}

export function clearByHand(context: LayerContext, order: ClearingOrder): ByHand {
  if ("images" in order) return withhold(context)
  return "prune" in order ? prune(context) : clear(context, order, "asked")
}

function prune(context: LayerContext): ByHand {
  const found = surveyAll(context)
  const smaller = new Set(found.results.filter(({ saving }) => saving > 0).map(({ toolUseId }) => toolUseId))
  const pruned = prunedIn(context).filter(({ toolUseId }) => smaller.has(toolUseId))
  const overtaken = Object.fromEntries(overtakenBy(pruned))
  const shortened = pruned.flatMap(({ cut }) => ("by" in cut ? [] : cut))
  const selection = { toolUseIds: Object.keys(overtaken), memories: [], overtaken, shortened }
  return handEdit(context, { selection, why: "asked", found })
}

/** Where no request fits any more, the oldest results go, of any tool, until one does. Where none is left, images go. */
export function clearBlocked(context: LayerContext): readonly DecisionDraft[] {
  const { drafts } = clear(context, { downTo: context.thresholds.blocking - 1 }, "size")
  return drafts.length > 0 ? drafts : withhold(context).drafts
}

function withhold(context: LayerContext): ByHand {
  const { views, facts } = context
  const drafts = refusedMedia(views.context, {
    which: "old",
    why: "left out on request",
    boundThinking: facts.accepts.boundThinking,
  }).map((draft) => (draft.subtype === "media-withheld" ? { ...draft, asked: true as const } : draft))
  const addresses = drafts.flatMap((draft) =>
    draft.subtype === "media-withheld" ? draft.blocks.map(({ address }) => address) : [],
  )
  return { drafts, results: 0, shortened: 0, images: addresses.length, rewrites: writtenAgain(context, addresses) }
}

/** Everything from the first changed message on. */
function writtenAgain(context: LayerContext, addresses: readonly string[]): number {
  const { context: view, estimator } = context.views
  const uuids = new Set(addresses.map((address) => parseAddress(address)?.uuid))
  const messages = view.storedMessages()
  const first = messages.findIndex(({ uuid }) => uuids.has(uuid))
  if (first < 0 || cacheState(context).state === "cold") return 0
  const blocks = messages.slice(first).flatMap((message) => sentBlocks(message))
  return Math.round(estimator.blocks(blocks.filter((block) => !isMedia(block))))
}

type ResultsOrder = Exclude<ClearingOrder, { images: true } | { prune: true }>

function clear(context: LayerContext, order: ResultsOrder, why: "asked" | "size"): ByHand {
  const found = surveyAll(context)
  const results = found.results.filter(
    isFree(context.views.context.storedMessages(), context.views.context.settled.count),
  )
  const chosen =
    "tool" in order
      ? ofTool(results, { tools: toolsIn(context.views.context.storedMessages()), ...order, ...keepOf(order, context) })
      : untilFits(results, { excess: context.size.tokens - order.downTo, scale: found.scale })
  const selection = { toolUseIds: chosen.map(({ toolUseId }) => toolUseId), memories: [] }
  return handEdit(context, { selection, why, found })
}

interface HandEdit {
  readonly selection: Selection
  readonly why: "asked" | "size"
  readonly found: Survey
}

function handEdit(context: LayerContext, { selection, why, found }: HandEdit): ByHand {
  const { toolUseIds, shortened = [] } = selection
  const counts = { results: toolUseIds.length, shortened: shortened.length, images: 0 }
  if (toolUseIds.length + shortened.length === 0) return { drafts: [], ...counts, rewrites: 0 }
  const drafts = clearing(context, selection, { why, found })
  const rewrites = drafts.find((draft) => draft.subtype === "tool-results-cleared")?.effect?.rewrites ?? 0
  return { drafts, ...counts, rewrites }
}

const keepOf = ({ keep }: { readonly keep?: number }, { flags }: LayerContext) => ({
  keep: keep ?? flags.figures["size-clear-protect"],
})

/** Results that may go: the model has answered them, and no tool is loaded by them. */
function isFree(messages: readonly Message[], answered: number): (result: ClearableResult) => boolean {
  const stay = new Set<string>()
  for (const [at, message] of messages.entries())
    for (const block of sentBlocks(message))
      if (isToolResult(block) && (at >= answered || referencesIn(block).length > 0)) stay.add(block.tool_use_id)
  return ({ toolUseId, saving }) => saving > 0 && !stay.has(toolUseId)
}

function toolsIn(messages: readonly Message[]): ReadonlyMap<string, string> {
  return new Map(messages.flatMap((message) => sentBlocks(message).filter(isToolUse)).map(({ id, name }) => [id, name]))
}

interface OfTool {
  readonly tools: ReadonlyMap<string, string>
  readonly tool: string
  readonly keep: number
}

function ofTool(results: readonly ClearableResult[], { tools, tool, keep }: OfTool): readonly ClearableResult[] {
  const own = results.filter(({ toolUseId }) => tools.get(toolUseId)?.toLowerCase() === tool.toLowerCase())
  return own.slice(0, Math.max(0, own.length - keep))
}

function untilFits(
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
