/**
 * Lists what can be cleared: every clearable result that is still shown completely, oldest first, with its size and position. A result that
 * contains text of the user is not listed. Each result is measured once. Its size does not follow the calibration, so a reopened
 * conversation gets the same list; `scale` converts sizes to the tokens that the calibration expects now. Also computes whether clearing
 * pays off.
 */
import { type Block, isThinking, isToolResult, isToolUse, type ToolResult } from "../../messages/blocks.ts"
import { containsUserText } from "../../messages/message-identity.ts"
import { type Message, sentBlocks, type Uuid } from "../../messages/messages.ts"
import type { Flags } from "../../settings/flags.ts"
import { usageTotal } from "../../tokens/context-size.ts"
import {
  addMeasure,
  createEstimator,
  type Estimator,
  type Measure,
  type RunningMeasure,
  runningMeasure,
} from "../../tokens/estimate.ts"
import { canonicalModelId, type ModelFacts } from "../../tokens/models.ts"
import { cacheCounts } from "../../views/cache/pauses.ts"
import { renderCleared, renderClearedMemory } from "../../views/context/render-decisions.ts"
import type { Views } from "../../views/views.ts"
import type { LayerContext } from "../layer.ts"
import { IncrementalReducer, type MessageReducer } from "../pipeline.ts"
import { stubRoom } from "./stubs.ts"

/** Tools whose result can be obtained again by calling them again. */
export const READ_LIKE = ["Read", "Bash", "Grep", "Glob", "WebFetch", "WebSearch", "Recall"] as const
/** Tools whose results are short and whose input is large. */
export const WRITE_LIKE = ["Edit", "Write"] as const

const CLEARABLE = [...READ_LIKE, ...WRITE_LIKE]

interface PositionedItem {
  /** Tokens of the conversation before this item. */
  readonly before: number
}

interface RemovableItem extends PositionedItem {
  /** Tokens that clearing removes. A marker and a stub stay. */
  readonly saving: number
}

/** Sums over a list up to one of its items, so that questions about many results need no scan. */
interface RunningSums {
  readonly tokens: number
  /** Sums over results that are larger than their replacement. Only these are cleared. */
  readonly worthwhile: { readonly tokens: number; readonly saving: number; readonly first: number }
}

export interface ClearableResult extends RemovableItem {
  readonly toolUseId: string
  readonly tokens: number
  /** Sums over all results up to and including this one. */
  readonly upTo: RunningSums
}

/** The part of a result that clearing by time and by cache edit needs. */
export type ClearingCandidate = Pick<ClearableResult, "toolUseId" | "saving">

export interface SentThinking extends PositionedItem {
  readonly tokens: number
  /** Tokens of all thinking up to and including this one. */
  readonly upTo: number
}

export interface ClearableContent {
  readonly results: readonly ClearableResult[]
  /** Thinking that is sent, oldest first. */
  readonly thinking: readonly SentThinking[]
  /** Recalled memories that are still shown completely. */
  readonly memories: readonly (RemovableItem & { readonly uuid: Uuid })[]
  /** Results that are deleted in the server's cache and still complete here. */
  readonly deleted: readonly (PositionedItem & { readonly toolUseId: string })[]
  /** Ids of results of clearable tools that contain text of the user. */
  readonly withUserText: readonly string[]
  /** Tokens of the whole conversation. */
  readonly tokens: number
  /** Factor that converts sizes in this list to the tokens that the calibration expects. */
  readonly scale: number
}

interface ClearableState {
  readonly tools: Map<string, string>
  readonly results: ClearableResult[]
  readonly thinking: SentThinking[]
  readonly memories: { uuid: Uuid; saving: number; before: number }[]
  readonly deleted: { toolUseId: string; before: number }[]
  readonly withUserText: string[]
  /** Number of messages processed so far. */
  count: number
  tokens: number
  measure: RunningMeasure
}

interface ListInput {
  readonly views: Views
  readonly flags: Pick<Flags, "clearableTools">
}

const NONE: RunningSums = { tokens: 0, worthwhile: { tokens: 0, saving: 0, first: Number.POSITIVE_INFINITY } }

/** Adds a result to the list, with the sums up to it. */
export function addResult(results: ClearableResult[], result: Omit<ClearableResult, "upTo">): void {
  const { tokens, worthwhile } = results.at(-1)?.upTo ?? NONE
  const upTo = {
    tokens: tokens + result.tokens,
    worthwhile:
      result.saving <= 0
        ? worthwhile
        : {
            tokens: worthwhile.tokens + result.tokens,
            saving: worthwhile.saving + result.saving,
            first: Math.min(worthwhile.first, result.before),
          },
  }
  results.push({ ...result, upTo })
}

/** Adds thinking to the list, with the sum up to it. */
export function addThinking(list: SentThinking[], thinking: Omit<SentThinking, "upTo">): void {
  list.push({ ...thinking, upTo: (list.at(-1)?.upTo ?? 0) + thinking.tokens })
}

const trackedReducers = new WeakMap<Views, IncrementalReducer<ClearableState>>()

/** Whether the list is up to date, so that listing again costs only what is new. */
export const isTracked = (views: Views): boolean => trackedReducers.has(views)

/** `flags` names additional tools whose results can be cleared. They do not change while the conversation is open. */
export function listClearableContent({ views, flags }: ListInput): ClearableContent {
  const plain = plainEstimator(views)
  const clearable = new Set<string>([...CLEARABLE, ...flags.clearableTools])
  const fold = trackedReducers.get(views) ?? new IncrementalReducer(clearableReducer(views, { plain, clearable }))
  trackedReducers.set(views, fold)
  return withScale(fold.over(views.context), views)
}

/** The same with the results of every tool, for a clearing that the user requests. Nothing is cached between two calls. */
export function listAllClearableContent({ views }: Pick<ListInput, "views">): ClearableContent {
  const looking = { plain: plainEstimator(views), clearable: { has: () => true } }
  const fold = new IncrementalReducer(clearableReducer(views, looking))
  return withScale(fold.over(views.context), views)
}

function withScale(
  { results, thinking, memories, deleted, withUserText, tokens, measure }: ClearableState,
  { estimator }: Views,
): ClearableContent {
  const scale = tokens > 0 ? estimator.tokens(measure) / tokens : 1
  return { results, thinking, memories, deleted, withUserText, tokens, scale }
}

const plainEstimators = new WeakMap<Views, Estimator>()

/** An estimator for the same model family, without calibration. */
function plainEstimator(views: Views): Estimator {
  const plain = plainEstimators.get(views) ?? createEstimator(views.estimator.family)
  plainEstimators.set(views, plain)
  return plain
}

interface ListOptions {
  readonly plain: Estimator
  readonly clearable: { has(tool: string): boolean }
}

interface MeasuredMessage {
  readonly message: Message
  readonly blocks: readonly MeasuredBlock[]
}

interface MeasuredBlock {
  readonly block: Block
  readonly measure: Measure
  readonly tokens: number
  /** Tokens that clearing the result saves. Cached because a result is added twice: once before a response has followed it. */
  saving?: number
}

function clearableReducer(
  { context, estimator }: Views,
  { plain, clearable }: ListOptions,
): MessageReducer<ClearableState> {
  /** Measurements by message index. After a decision all messages are processed again, but unchanged ones need not be measured again. */
  const measured: MeasuredMessage[] = []

  return {
    start: () => ({
      ...{
        tools: new Map(),
        results: [],
        thinking: [],
        memories: [],
        deleted: [],
        withUserText: [],
        count: 0,
        tokens: 0,
      },
      measure: runningMeasure(),
    }),

    // calls are in responses, and nothing after the newest response is retained, so the map can stay as it is
    snapshot(looked) {
      const { count, tokens } = looked
      const measure = runningMeasure(looked.measure)
      measured.length = count
      const lists = [looked.results, looked.thinking, looked.memories, looked.deleted, looked.withUserText]
      const lengths = lists.map(({ length }) => length)
      return () => {
        for (const [at, list] of lists.entries()) list.length = lengths[at]!
        Object.assign(looked, { count, tokens, measure })
      }
    },

    add(looked, message) {
      takeMemory(looked, message)
      const { blocks } = measuredAt(looked.count++, message)
      for (let at = 0; at < blocks.length; at++) {
        const each = blocks[at]!
        const { block, measure, tokens } = each
        const { tokens: before } = looked
        if (isToolUse(block)) looked.tools.set(block.id, block.name)
        else if (isThinking(block)) addThinking(looked.thinking, { tokens, before })
        else if (isToolResult(block)) takeResult(looked, each, { message, address: `${message.uuid}.${at}` })
        looked.tokens += tokens
        addMeasure(looked.measure, measure)
      }
    },
  }

  function measuredAt(place: number, message: Message): MeasuredMessage {
    const known = measured[place]
    if (known?.message === message) return known
    const blocks = sentBlocks(message).map((block, at): MeasuredBlock => {
      const same = known?.blocks[at]
      if (same?.block === block) return same
      const measure = estimator.measure([block])
      return { block, measure, tokens: plain.tokens(measure) }
    })
    const entry = { message, blocks }
    measured[place] = entry
    return entry
  }

  function takeResult(
    looked: ClearableState,
    measured: MeasuredBlock,
    { message, address }: { readonly message: Message; readonly address: string },
  ): void {
    const { tokens } = measured
    const block = measured.block as ToolResult
    const { tool_use_id: toolUseId } = block
    const { tokens: before } = looked
    if (!clearable.has(looked.tools.get(toolUseId) ?? "") || context.resultAddress(toolUseId) !== address) return
    if (containsUserText(message, block)) {
      looked.withUserText.push(toolUseId)
      return
    }
    if (!context.isCleared(toolUseId)) {
      measured.saving ??= tokens - plain.block(renderCleared(block, address)) - stubRoom(tokens)
      addResult(looked.results, { toolUseId, tokens, saving: measured.saving, before })
    } else if (context.isDeletedInCache(toolUseId)) looked.deleted.push({ toolUseId, before })
  }

  function takeMemory({ memories, tokens: before }: ClearableState, message: Message): void {
    if (message.type !== "attachment" || message.attachment.type !== "memory") return
    if (context.isClearedMemory(message.uuid)) return
    const saving = plain.blocks(sentBlocks(message)) - plain.blocks(sentBlocks(renderClearedMemory(message)))
    memories.push({ uuid: message.uuid, saving, before })
  }
}

// Whether the server's cache can still hold what was sent last.

export type CacheState =
  | { readonly state: "warm" }
  /** The server no longer has what was sent: everything is written again in any case. */
  | { readonly state: "cold"; readonly reason: "no response yet" | "idle" | "another model" | "another program" }
  /** The cache is about to be lost: unless something is cleared, the context must be compacted. `excess`: tokens beyond the limit. */
  | { readonly state: "leaving"; readonly excess: number }

/** How long cache entries of messages live: as configured, or as a custom loop requests it. */
export type MessageCacheLifetime = "5m" | "1h"

const MS_PER_MINUTE = 60_000
const LIFE_MINUTES: Readonly<Record<MessageCacheLifetime, number>> = { "5m": 5, "1h": 60 }

type CacheInput = Pick<LayerContext, "model" | "now" | "fill" | "thresholds"> & { readonly views: Views }

export function cacheState({ views, model, now, fill, thresholds }: CacheInput): CacheState {
  const last = views.context.lastResponse
  if (!last) return { state: "cold", reason: "no response yet" }
  // another program sent it with a prompt of its own
  if (views.context.session?.origin !== undefined && !views.context.prompt)
    return { state: "cold", reason: "another program" }
  const used = lastUse(last, views)
  if (idleMinutes(used, now) > LIFE_MINUTES[used.lifetime]) return { state: "cold", reason: "idle" }
  const by = last.message.model
  if (by !== undefined && canonicalModelId(by) !== canonicalModelId(model)) {
    return { state: "cold", reason: "another model" }
  }
  const isFull = fill.state === "compact" || fill.state === "blocked"
  // if nothing is compacted automatically, the limit is what can be sent
  const max = Math.min(thresholds.limit, thresholds.blocking)
  return isFull ? { state: "leaving", excess: fill.used - max } : { state: "warm" }
}

/** Time of the newest response, or of a later request that kept its cache warm, and how long the cache lives from then on. */
export function lastUse(last: { readonly timestamp: string }, views: Views) {
  const { warmed } = views.cacheHistory
  return warmed && Date.parse(warmed.at) > Date.parse(last.timestamp)
    ? { timestamp: warmed.at, lifetime: warmed.lifetime }
    : { timestamp: last.timestamp, lifetime: cacheLifetime(views) }
}

/** The lifetime shown by the newest usage. An interrupted answer has no usage. */
export function cacheLifetime({ context }: Views): MessageCacheLifetime {
  const usage = context.recentResponses(1)[0]?.message.usage
  if (!usage) return "5m"
  const { cacheWrite5m, cacheWrite1h } = cacheCounts(usage)
  return cacheWrite1h > 0 && cacheWrite5m === 0 ? "1h" : "5m" // with both kinds of writes, the hour is that of the prompt
}

/** Minutes since the last response; 0 if there was none. */
export function idleMinutes(lastResponse: { readonly timestamp: string } | undefined, now: Date): number {
  return lastResponse ? (now.getTime() - Date.parse(lastResponse.timestamp)) / MS_PER_MINUTE : 0
}

// When clearing pays off. Removing D tokens from a warm cache makes the server write the S tokens after them once more, and saves reading D
// on every turn from then on. With w and r the prices of writing and reading, relative to plain input:
//
//     n ≥ S·(w − r) / (D·r) − 1     turns until it has paid off; with w 1.25 and r 0.1 that is 11.5·S/D − 1

/** Cache prices relative to the price of uncached input. */
export interface CachePrices {
  readonly write: number
  readonly read: number
}

/** The prices of most models. Used if no price is known, or the model is free. */
const USUAL = { input: 1, cacheWrite5m: 1.25, cacheWrite1h: 2, cacheRead: 0.1 } as const
const RECENT = 11 // responses: the growth of the last ten turns

interface PricedRequest {
  /** Size of the request: long prompts cost more on some models. */
  readonly tokens: number
  /** Lifetime of what is written: an hour costs more than five minutes. */
  readonly lifetime: MessageCacheLifetime
}

export function cachePrices({ price, longPrompt }: ModelFacts, { tokens, lifetime }: PricedRequest): CachePrices {
  const current = longPrompt && tokens > longPrompt.above ? longPrompt.price : price
  const { input, cacheWrite5m, cacheWrite1h, cacheRead } = current && current.input > 0 ? current : USUAL
  return { write: (lifetime === "1h" ? cacheWrite1h : cacheWrite5m) / input, read: cacheRead / input }
}

export interface ClearingSize {
  /** D: tokens that are removed. */
  readonly removed: number
  /** S: tokens after the first position that changes. They are written again. */
  readonly after: number
}

export function paybackTurns({ removed, after }: ClearingSize, { write, read }: CachePrices): number {
  if (removed <= 0) return Number.POSITIVE_INFINITY
  return (after * (write - read)) / (removed * read) - 1
}

/** Tokens of plain input that a clearing saves within the given number of turns. */
export const worthOfClearing = (
  { removed, after }: ClearingSize,
  { write, read }: CachePrices,
  turns: number,
): number => turns * read * removed - after * (write - read)

/** Number of turns within which a clearing that removes this many tokens can pay off. */
export type RemainingTurns = (removed: number) => number

type RemainingInput = Pick<LayerContext, "fill" | "thresholds" | "compaction"> & {
  readonly views: Views
  readonly flags: Flags
}

/**
 * The number of turns that are expected. A compaction before that ends the saving, because it would have removed the cleared results
 * anyway.
 */
export function remainingTurns(input: RemainingInput): RemainingTurns {
  const { views, flags, fill, thresholds } = input
  const expected = flags.figures["expected-turns"]
  const growth = growthPerTurn(views.context)
  if (growth === 0 || !compactsItself(input)) return () => expected
  return (removed) => Math.min(expected, Math.max(0, thresholds.autoCompact - fill.used + removed) / growth)
}

/** Average growth of the context in tokens per turn. A step that made the context smaller was a clearing and does not count as growth. */
export function growthPerTurn(context: Views["context"]): number {
  const sizes = context.recentResponses(RECENT).map(({ message }) => usageTotal(message.usage!))
  const grown = sizes.slice(1).reduce((sum, before, i) => sum + Math.max(0, sizes[i]! - before), 0)
  return sizes.length > 1 ? grown / (sizes.length - 1) : 0
}

/** Whether a full window is compacted automatically: compaction is allowed, a layer can do it, and it has not stopped after failures. */
export function compactsItself({
  compaction,
  views,
  flags,
}: Pick<LayerContext, "compaction"> & { readonly views: Views; readonly flags: Flags }): boolean {
  return compaction.auto && views.compactions.failures < flags.figures["compact-failures"]
}
