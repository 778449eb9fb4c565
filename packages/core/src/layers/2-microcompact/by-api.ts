/**
 * Asks the server to clear results from its own copy of the conversation. Nothing changes on this side, so thinking stays bound to its
 * context. The edits are a function of the views: the same journal produces the same edits.
 *
 * The server evaluates every request on its own. Without a fixed number of calls to keep, each new call would change what it clears and
 * break its cache. So once it has cleared something, the request asks it to keep exactly what it kept then. It clears more when the context
 * has grown to the trigger again and a clearing is worth it.
 */

import { isThinking } from "../../messages/blocks.ts"
import { contentOf } from "../../messages/messages.ts"
import type { RequestExtras } from "../../messages/request.ts"
import type { ModelAccepts } from "../../tokens/models.ts"
import {
  CALLS_KEPT_BY_DEFAULT,
  clearThinking,
  clearToolUses,
  contextManagement,
} from "../../views/context/server-side.ts"
import type { Views } from "../../views/views.ts"
import type { LayerContext, RequestSender } from "../layer.ts"
import { IncrementalReducer, type MessageReducer } from "../pipeline.ts"
import {
  cacheLifetime,
  cachePrices,
  cacheState,
  idleMinutes,
  listClearableContent,
  paybackTurns,
  READ_LIKE,
  remainingTurns,
  WRITE_LIKE,
} from "./clearable-content.ts"

const ROOM_BEFORE_COMPACTION = 20_000 // tokens between the server's clearing and our compaction

export interface ApiInput {
  readonly accepts: ModelAccepts
  /** Names of the tools in the request. */
  readonly tools: readonly string[]
  /** Number of turns with thinking since the last long pause. Called only if the model's thinking may be cleared. */
  readonly turnsSincePause: () => number | undefined
  /** Additional tools whose results may be cleared. */
  readonly clearable?: readonly string[]
  /** Number of input tokens at which the server clears. */
  readonly trigger: number
  /** Number of tokens that stay. */
  readonly keep: number
  /** Number of newest calls whose results stay: as many as the server kept when it last cleared. */
  readonly keepCalls?: number | undefined
}

/** The clearing edits for a request of the conversation or of a fork. */
export function serverClearingExtras(context: LayerContext, sender: RequestSender): RequestExtras | undefined {
  const { facts, flags, views, now } = context
  const trigger = triggerFor(context)
  const keepCalls = sender === "fork" ? views.context.serverCopy.inCache : callsToKeep(context, trigger)
  // the server cannot exclude single results, and text of the user stays in view
  const mustNotClear = keepCalls === undefined && listClearableContent(context).withUserText.length > 0
  return editsForServer({
    accepts: facts.accepts,
    tools: mustNotClear ? [] : views.context.toolNames,
    turnsSincePause: () => turnsSincePause({ views, now, gapMinutes: flags.figures["idle-gap"] }),
    trigger,
    clearable: flags.clearableTools,
    keep: flags.figures["api-clear-keep"],
    keepCalls,
  })
}

/** The server may clear more only for a request of the conversation, because only its next requests read what that request writes. */
function callsToKeep(context: LayerContext, trigger: number): number | undefined {
  const { size, views } = context
  return size.tokens >= trigger && mayServerClearMore(context) ? undefined : views.context.serverCopy.count
}

export function triggerFor({ flags, thresholds }: LayerContext): number {
  return serverTrigger({ max: flags.figures["api-clear-trigger"], autoCompact: thresholds.autoCompact })
}

/** Number of input tokens at which the server clears: the configured number, but well before a compaction. */
export function serverTrigger({ max, autoCompact }: { readonly max: number; readonly autoCompact: number }): number {
  return Math.floor(Math.min(max, autoCompact - ROOM_BEFORE_COMPACTION)) // the API takes whole numbers
}

export function editsForServer(input: ApiInput): RequestExtras | undefined {
  return contextManagement([...thinkingEdit(input), ...toolEdit(input)])
}

function toolEdit({ tools, trigger, keep, keepCalls, clearable: more = [] }: ApiInput): object[] {
  const clearable: ReadonlySet<string> = new Set([...READ_LIKE, ...WRITE_LIKE, ...more])
  if (!tools.some((tool) => clearable.has(tool))) return []
  return [
    clearToolUses({
      trigger,
      keepCalls,
      atLeast: Math.ceil(trigger - keep),
      except: tools.filter((tool) => !clearable.has(tool)),
      withInputs: WRITE_LIKE.filter((tool) => tools.includes(tool)),
    }),
  ]
}

/**
 * All thinking stays while the work continues. After a long pause, only the last turn before the pause and everything after it stay.
 * Expressed this way, the same turns stay cleared in every later request, so the cache breaks only once.
 */
function thinkingEdit({ accepts, turnsSincePause }: ApiInput): object[] {
  if (accepts.thinkingOff || !accepts.earlierThinking) return [] // the API refuses the edit where a request does not think
  const since = turnsSincePause()
  return [clearThinking(since === undefined ? "all" : since + 1)]
}

/**
 * Whether the server may clear more than it already has. Each clearing breaks its cache. If most of a context cannot be cleared, the
 * trigger stays exceeded, and every call would break the cache for one or two results. So the server clears more only for a batch that is
 * large enough and pays off, or if the context is about to be full.
 */
function mayServerClearMore(context: LayerContext): boolean {
  const { views, flags, facts, fill } = context
  const { results, withUserText, scale } = listClearableContent(context)
  const old = new Set(views.context.serverCopy.allBut(CALLS_KEPT_BY_DEFAULT))
  if (withUserText.some((id) => old.has(id))) return false
  const saving = results.reduce((sum, each) => sum + (old.has(each.toolUseId) ? each.saving : 0), 0)
  const removed = saving * scale
  if (removed < flags.figures["size-clear-min"]) return false
  if (fill.state !== "fine" || cacheState(context).state === "cold") return true
  // what comes before the change is in the cache, but further back than the server looks: only the prompt is read from it
  const after = Math.max(0, fill.used - views.context.promptTokens - removed)
  const prices = cachePrices(facts, { tokens: fill.used, lifetime: cacheLifetime(views) })
  return paybackTurns({ removed, after }, prices) <= remainingTurns(context)(removed)
}

interface PauseState {
  /** Number of turns with thinking since the last pause; `undefined` if there was no pause. */
  since: number | undefined
  last: { readonly timestamp: string; readonly id: string } | undefined
}

const pauseReducer = (gapMinutes: number): MessageReducer<PauseState> => ({
  start: () => ({ since: undefined, last: undefined }),
  snapshot: (state) => {
    const before = { ...state }
    return () => Object.assign(state, before)
  },
  add(state, message) {
    const response = message.type === "assistant" ? message : undefined
    const id = response && (response.message.id ?? response.uuid)
    const isPiece = id !== undefined && id === state.last?.id
    // responses count too: a message from before the pause may have been sent after it, by another process
    if (!isPiece && idleMinutes(state.last, new Date(message.timestamp)) > gapMinutes) state.since = 0
    if (!response || id === undefined) return
    if (state.since !== undefined && !isPiece && contentOf(response).some(isThinking)) state.since++
    state.last = { timestamp: message.timestamp, id }
  },
})

interface PauseInput {
  readonly views: Views
  readonly now: Date
  /** Minimum length of a pause. */
  readonly gapMinutes: number
}

const trackedReducers = new WeakMap<
  Views,
  { readonly gapMinutes: number; readonly fold: IncrementalReducer<PauseState> }
>()

/** Number of turns with thinking since the last pause; `undefined` if there was no pause. */
export function turnsSincePause({ views, now, gapMinutes }: PauseInput): number | undefined {
  const known = trackedReducers.get(views)
  const fold = known?.gapMinutes === gapMinutes ? known.fold : new IncrementalReducer(pauseReducer(gapMinutes))
  trackedReducers.set(views, { gapMinutes, fold })
  const { since, last } = fold.over(views.context)
  return idleMinutes(last, now) > gapMinutes ? 0 : since
}
