/**
 * Defines layers. A layer reads the views and returns a result: drafts of entries, and what to do once they are in the journal. The
 * conversation writes them and updates the views. Layers do not depend on each other, and a layer that fails never breaks the conversation.
 */

import type { CacheLifetime, RequestSource } from "../base/enums.ts"
import { addCounts, inputTokens, NO_TOKENS } from "../base/text.ts"
import type { AuditFigures, Decision, DecisionOf, EntryDraft } from "../journal/entries.ts"
import type { Journal } from "../journal/store.ts"
import { isToolResult, isToolUse, type ToolResult } from "../messages/blocks.ts"
import { type AssistantMessage, contentOf, type Message, type Uuid } from "../messages/messages.ts"
import type { ModelRequest, RequestExtras } from "../messages/request.ts"
import type { Model } from "../model/model.ts"
import type { Flags } from "../settings/flags.ts"
import type { ContextBreakdown } from "../tokens/context-breakdown.ts"
import type { ContextSize } from "../tokens/context-size.ts"
import { type ModelFacts, tokenCounts } from "../tokens/models.ts"
import type { Thresholds, WindowUsage } from "../tokens/window.ts"
import type { PausePrior } from "../views/cache/pauses.ts"
import type { Views } from "../views/views.ts"

// Telemetry of a layer's action: its trigger, its cost, and for a compaction its relation to the previous one.

/** `by-time`: after a pause. `reactive`: the API refused a request as too long. */
export type LayerTrigger = "auto" | "manual" | "by-time" | "reactive"

export interface ActionReport {
  readonly trigger: LayerTrigger
  readonly facts: Readonly<Record<string, string | number | boolean>>
}

export interface ReportContext {
  /** Purpose of the conversation's requests. */
  readonly source: RequestSource
  /** Set if a user asked for the action, or the API refused a request. */
  readonly trigger?: LayerTrigger | undefined
}

export function reportAction(drafts: readonly EntryDraft[], { source, trigger }: ReportContext): ActionReport {
  const afterPause = draftsOfKind(drafts, "tool-results-cleared").some(({ why }) => why === "idle")
  return {
    trigger: trigger ?? (afterPause ? "by-time" : "auto"),
    facts: {
      "strata.source": source,
      "strata.decisions": [...new Set(drafts.map(draftKind))].join(" "),
      ...spendingFacts("strata.spent", drafts),
      ...compactionFacts(draftsOfKind(drafts, "compacted").at(-1)),
    },
  }
}

/** Adds the purpose of the requests to drafts whose readers need it. */
export const withSource = (drafts: readonly EntryDraft[], source: RequestSource): readonly EntryDraft[] =>
  drafts.map((draft) =>
    draft.type === "strata" && (draft.subtype === "compacted" || draft.subtype === "compaction-failed")
      ? { ...draft, source }
      : draft,
  )

/** Telemetry values of the cost of requests; their names begin with `name`. */
export function spendingFacts(name: string, drafts: readonly EntryDraft[]): ActionReport["facts"] {
  const responses = draftsOfKind(drafts, "spent")
  if (responses.length === 0) return {}
  const counts = responses.map(({ usage }) => tokenCounts(usage)).reduce(addCounts, NO_TOKENS)
  return {
    [`${name}.requests`]: responses.reduce((sum, { requests = 1 }) => sum + requests, 0),
    [`${name}.input_tokens`]: inputTokens(counts),
    [`${name}.output_tokens`]: counts.output,
    [`${name}.cache_read_tokens`]: counts.cacheRead,
    [`${name}.cache_write_tokens`]: counts.cacheWrite5m + counts.cacheWrite1h,
  }
}

function compactionFacts(compacted: DecisionOf<"compacted"> | undefined): ActionReport["facts"] {
  if (!compacted) return {}
  const { route, threshold, previous, planned, boundary } = compacted
  return {
    "strata.compaction.id": boundary,
    "strata.compaction.route": route,
    "strata.compaction.threshold": threshold,
    "strata.compaction.planned": planned !== undefined,
    "strata.compaction.chained": previous !== undefined,
    ...(previous
      ? { "strata.compaction.previous": previous.boundary, "strata.compaction.responses": previous.responses }
      : {}),
  }
}

const draftsOfKind = <S extends Decision["subtype"]>(
  drafts: readonly EntryDraft[],
  subtype: S,
): readonly DecisionOf<S>[] =>
  drafts.filter((draft) => draft.type === "strata" && draft.subtype === subtype) as unknown as readonly DecisionOf<S>[]

const draftKind = (draft: EntryDraft): string => ("subtype" in draft ? draft.subtype : draft.type)

// Compaction requests, plans and progress: the types that layer 4 shares with the agent loop.

/** Routes to a summary, cheapest first. */
export const ROUTES = ["notes", "server", "shared", "direct", "offline"] as const
/** How a summary is produced. */
export type CompactionRoute = (typeof ROUTES)[number]

/** Display names of the routes. */
export const COMPACTION_ROUTE_LABELS: Readonly<Record<CompactionRoute, string>> = {
  notes: "from the notes",
  server: "by the model's API",
  shared: "by the model, from its cache",
  direct: "by the model",
  offline: "without a model",
}

/** A compaction request with its trigger and all options. */
export interface ResolvedCompactionRequest {
  readonly trigger: "auto" | "manual"
  /** What the summary should focus on. */
  readonly instructions?: string
  /** Only the messages after a message, or only those before it. Default: everything. */
  readonly range?: CompactionRange
  /** The only routes to try. Default: for a manual compaction those that ask a model, otherwise all. */
  readonly routes?: readonly CompactionRoute[]
  /** The API has refused a request as too long: the context must shrink even if the estimate says it fits. */
  readonly overflowed?: boolean
  /** How often the same request was already compacted for and refused again. Each attempt aims lower. Default 0. */
  readonly attempt?: number
  /** Thresholds to meet if they are not the conversation's: those of a model to switch to. */
  readonly target?: Thresholds
  /**
   * Maximum tokens that may be left, without system prompt and tools. If that is impossible, nothing changes and the error names the
   * minimum.
   */
  readonly budget?: number
  /** Called with the summary before it takes effect. Its result replaces the summary; an empty result cancels. */
  readonly review?: (written: WrittenSummary) => Promise<string | undefined>
  /** Reason why the planner compacts before the window is full, in one sentence. */
  readonly planned?: string
  /** Use exactly this summary from a plan. Fails if the conversation has changed since. */
  readonly written?: PlannedSummary
}

/** A summary and the route that produced it. */
export interface WrittenSummary {
  readonly text: string
  readonly route: CompactionRoute
}

/** The summary that a compaction would install. */
export interface PlannedSummary extends WrittenSummary {
  /** Uuid of the last message that the summary covers. */
  readonly last: Uuid
}

/** A part of the conversation: from a message on, or up to one. */
export interface CompactionRange {
  readonly kind: "from" | "up-to"
  readonly uuid: Uuid
}

/**
 * What would be summarized and preserved, and the cost. The sizes add up: `fixed`, `summarised` and `kept` are `tokensBefore`; `fixed`, the
 * summary, the preserved messages (`shortenedTo`, if set) and `added` are `expectedAfter`.
 */
export interface CompactionPlan {
  readonly trigger: ResolvedCompactionRequest["trigger"]
  readonly kind: "all" | CompactionRange["kind"]
  /** Routes in the order in which they are tried. */
  readonly routes: readonly CompactionRoute[]
  readonly summarised: {
    readonly messages: number
    readonly tokens: number
    readonly first: Uuid
    readonly last: Uuid
  }
  /** The preserved messages. `shortenedTo`: their size after long results were shortened. */
  readonly kept: { readonly uuids: readonly Uuid[]; readonly tokens: number; readonly shortenedTo?: number }
  /** Tokens of system prompt and tools, which stay. */
  readonly fixed: number
  /** One line for each item that is added after the summary. */
  readonly restored: readonly string[]
  /** Tokens of the added items. */
  readonly added: number
  /**
   * Tokens of the summary including the text around it. `expected`: no model has written it yet. Then the size is estimated from `earlier`
   * summaries of the conversation, or without any from the requested length.
   */
  readonly summary:
    | { readonly tokens: number; readonly is: "written" }
    | { readonly tokens: number; readonly is: "expected"; readonly earlier: number }
  /** The summary, if a model was asked for it. Pass it to `compact` to use exactly this one. */
  readonly written?: PlannedSummary
  readonly tokensBefore: number
  readonly expectedAfter: number
  /** Minimum and maximum of `expectedAfter`. Both are equal if the summary is already written. */
  readonly between: readonly [min: number, max: number]
  /** Whether the compaction saves enough. Otherwise it is refused. */
  readonly isWorthIt: boolean
  /** Price of the model call of the first route. Absent if there is no call or no known price. */
  readonly dollars?: number
}

/** Reason why there is no compaction. */
export interface CompactionRefusal {
  readonly kind: "refused"
  readonly why: CompactionRefusalReason
  /** For the user: what happened, what was preserved, what to do next. */
  readonly message: string
}

/** Why a compaction was refused. */
export type CompactionRefusalReason =
  | "switched-off"
  | "nothing-to-summarise"
  | "stopped-after-failures"
  | "too-soon"
  | "just-undone"
  | "out-of-reach"
  | "no-gain"
  | "blocked-by-hook"
  | "no-such-message"
  | "calls-open"
  | "cancelled"

/** Progress of a compaction. */
export type CompactionProgress =
  | {
      readonly phase: "preparing" | "summarising" | "restoring"
      readonly route?: CompactionRoute
      readonly characters?: number
    }
  /** A hook is running. */
  | { readonly phase: "hook"; readonly event: "PreCompact" | "SessionStart"; readonly hook: string }
  /** Heartbeat, every half minute. */
  | { readonly phase: "alive"; readonly seconds: number }
  /** A message for the user, from a hook or about a route that failed. */
  | { readonly phase: "message"; readonly message: string }
  | {
      readonly phase: "done"
      readonly route: CompactionRoute
      readonly tokensBefore: number
      readonly tokensAfter: number
      /** Result of the check. */
      readonly audit?: AuditFigures
      /** Content of the context before the compaction, by class. */
      readonly content: ContextBreakdown
    }
  | { readonly phase: "failed"; readonly message: string }

/** The built-in layers, and any name for a custom layer. */
export type LayerName =
  | "tool-results"
  | "microcompact"
  | "fold"
  | "session-memory"
  | "compaction"
  | "auto-memory"
  | "dreaming"
  | (string & Record<never, never>)

/** The state of a conversation that a layer can read. */
export interface LayerContext {
  readonly conversation: string
  readonly model: string
  readonly facts: ModelFacts
  /** @internal */
  readonly views: Views
  readonly size: ContextSize
  readonly thresholds: Thresholds
  /** @internal Thresholds of another model, by what its server has reported. */
  readonly thresholdsOf: (model: Model) => Thresholds
  readonly fill: WindowUsage
  /** @internal Switches and settings, read once per turn. */
  readonly flags: Flags
  readonly now: Date
  /** Reads entries that the views do not contain, and stores offloaded content. To add entries, return drafts. */
  readonly journal: Pick<
    Journal,
    "address" | "location" | "file" | "notesPath" | "find" | "writeBlob" | "readBlob" | "readNotes" | "writeNotes"
  >
  /** Whether the conversation can be compacted automatically and manually. Both are false without a layer that compacts. */
  readonly compaction: { readonly auto: boolean; readonly manual: boolean }
  /** Creates a uuid for a message to which another draft refers. */
  readonly newUuid: () => Uuid
  /** Builds the request that forks start from: the current conversation, on the cache of its last request. Changes nothing. */
  readonly request: () => Promise<ModelRequest>
  /** Whether the model can look up content that leaves the context: it has the tool Recall, or will get it. */
  readonly canRecall: boolean
  /** Whether the conversation was idle for long and the user has sent nothing since it was opened. */
  readonly isIdleSinceOpening: boolean
  /** @internal Knowledge about pauses before the conversation has had any. */
  readonly prior?: PausePrior | undefined
  /** Starts work of a layer in the background. Its result is journaled when it is done. */
  readonly runInBackground: (
    layer: Pick<Layer, "name">,
    work: (context: LayerContext) => Promise<LayerResult | undefined>,
  ) => void
  /** Aborted when the conversation closes, or when the caller cancels. */
  readonly signal: AbortSignal
  /** Reports the progress of a long task. */
  readonly progress: (progress: CompactionProgress) => void
}

/** Decisions of a layer. Nothing has changed until the drafts are in the journal. */
export interface LayerResult {
  /** Drafts that are journaled together: after a crash either all of them or none are there. */
  readonly drafts: readonly EntryDraft[]
  /** One line for the user. A function gets the number of tokens that the drafts saved. */
  readonly message?: string | ((effect: { readonly saved: number }) => string | undefined)
  /** Telemetry: the trigger, if neither the caller nor the drafts determine it. */
  readonly trigger?: LayerTrigger
  /** Telemetry: counters, such as `memories.written`. */
  readonly counts?: Readonly<Record<string, number>>
  /** Telemetry: other values. */
  readonly facts?: Readonly<Record<string, string | number | boolean>>
  /** Errors to report. The drafts are journaled anyway. */
  readonly failures?: readonly unknown[]
  /** Called once the drafts are in the journal and the views are updated. */
  journaled?(context: LayerContext): Promise<void>
  /** Called if the drafts could not be written. */
  lost?(): void
}

/** Sender of a request. A fork reads the cache of the conversation's last request, so it must not request anything that changes it. */
export type RequestSender = "conversation" | "fork"

/** A part of context management, which keeps the conversation within its window. Each method is optional. */
export interface Layer {
  readonly name: LayerName
  /** Called when tool results arrive, before they are first sent. `results`: all results of one message. */
  onToolResults?(context: LayerContext, results: readonly ToolResult[]): Promise<LayerResult | undefined>
  /** Called before every request, in the order of the layers: the cheapest first. */
  beforeRequest?(context: LayerContext): Promise<LayerResult | undefined>
  /** Called if no request fits after that, to make room at any cost. Called again until it returns nothing. */
  whenBlocked?(context: LayerContext): Promise<LayerResult | undefined>
  /** Called when a request has been prepared, while the model answers. The request does not wait, and nothing is decided. */
  whileAnswered?(context: LayerContext): void
  /** Called in the background after a response was recorded. */
  afterResponse?(context: LayerContext): Promise<LayerResult | undefined>
  /** Called in the background after a final answer. */
  afterQuery?(context: LayerContext): Promise<LayerResult | undefined>
  /** Called in the background during a pause, shortly before the server's cache expires. */
  beforeExpiry?(context: LayerContext): Promise<LayerResult | undefined>
  /** @internal The cache lifetime that a request sent now would ask for. `compacted`: its size after a compaction. */
  nextLifetime?(context: LayerContext, compacted?: number): CacheLifetime
  /** Parts of the request besides the conversation. Pure: equal views produce equal bytes. */
  requestExtras?(context: LayerContext, sender: RequestSender): RequestExtras | undefined
}

/** State of the summary for the next compaction. */
export type PreparedState = "not-begun" | "being-written" | "ready"

/** What a compaction would preserve verbatim after a summary. */
export interface VerbatimTail {
  /** Tokens that the summary does not cover. */
  readonly tokens: number
  /** Tokens after long results are shortened. */
  readonly shortened: number
}

/** Forecast of the next compaction. */
export interface UpcomingCompaction {
  /** State of its summary. A summary that would save too little does not count as ready. */
  readonly state: PreparedState
  /** What would be preserved verbatim after that summary. Absent if none is ready. */
  readonly tail?: VerbatimTail
  /** Whether it happens with the next request. Otherwise it happens with a request of the user, after a pause, or in a full window. */
  readonly isNow: boolean
  /**
   * Tokens of plain input that it saves within the number of turns in which a clearing must pay off. Absent if it would save too little.
   */
  readonly worth?: number
}

/** A layer that can replace the conversation by a summary. */
export interface Compactor extends Layer {
  /** Returns what `compact` would do, as a printable value. Changes nothing. */
  plan(context: LayerContext, order: ResolvedCompactionRequest): Promise<CompactionPlan | CompactionRefusal>
  /** Compacts on request. Throws if it refuses. */
  compact(context: LayerContext, order: ResolvedCompactionRequest): Promise<LayerResult>
  /** Forecast of the next compaction, by the planner's prices. */
  upcoming?(context: LayerContext): UpcomingCompaction
  /** Discards the summary that is ready or being written. Returns whether there was one. */
  drop?(context: LayerContext): boolean
  /** Called after a compaction was undone, to forget state about it. */
  undone?(): void
}

export function isCompactor(layer: Layer): layer is Compactor {
  const { plan, compact } = layer as Partial<Compactor>
  return typeof plan === "function" && typeof compact === "function"
}

// Position up to which a conversation is complete, and its open calls.

export interface Position {
  /** Uuid of the last complete message. With open calls: the one before the turn that made them. */
  readonly throughUuid: Uuid | undefined
  /** Ids of calls in the last assistant turn that have no result yet. */
  readonly openCalls: readonly string[]
}

export function positionOf(messages: readonly Message[]): Position {
  const turn = lastTurn(messages)
  const answered = new Set(
    messages.slice(turn.start).flatMap((message) =>
      message.type === "user"
        ? contentOf(message)
            .filter(isToolResult)
            .map(({ tool_use_id }) => tool_use_id)
        : [],
    ),
  )
  const openCalls = turn.parts.flatMap(callsIn).filter((id) => !answered.has(id))
  const last = openCalls.length > 0 ? messages[turn.start - 1] : messages.at(-1)
  return { throughUuid: last?.uuid, openCalls }
}

export interface AssistantTurn {
  readonly parts: readonly AssistantMessage[]
  /** Index of the turn's first message. */
  readonly start: number
}

/** The last response. It may be split into several messages with results between them. Earlier messages are not read. */
export function lastTurn(messages: readonly Message[]): AssistantTurn {
  const parts: AssistantMessage[] = []
  let start = messages.length
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]!
    if (message.type !== "assistant") continue
    const { id } = message.message
    if (parts.length > 0 && (id === undefined || id !== parts[0]!.message.id)) break
    parts.unshift(message)
    start = at
  }
  return { parts, start }
}

export const callsIn = (message: AssistantMessage): string[] =>
  contentOf(message)
    .filter(isToolUse)
    .map(({ id }) => id)
