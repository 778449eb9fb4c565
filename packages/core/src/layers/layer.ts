/**
 * What a layer is. A layer reads the views and answers with an outcome: drafts of entries, and what follows once they are in the journal.
 * The conversation writes them and the views follow. No layer knows another, and a layer that fails never breaks the conversation.
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

// What telemetry says about a layer's action: what set it off, what it cost, and for a compaction how it follows the one before.

/** `by-time`: after a pause. `reactive`: the API had refused a request as too long. */
export type LayerTrigger = "auto" | "manual" | "by-time" | "reactive"

export interface ActionReport {
  readonly trigger: LayerTrigger
  readonly facts: Readonly<Record<string, string | number | boolean>>
}

export interface ReportContext {
  /** What the requests of the conversation are for. */
  readonly source: RequestSource
  /** Known where someone asked for it, or the API refused a request. */
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

/** The drafts with what their requests are for, where a reader of the journal asks for it. */
export const withSource = (drafts: readonly EntryDraft[], source: RequestSource): readonly EntryDraft[] =>
  drafts.map((draft) =>
    draft.type === "strata" && (draft.subtype === "compacted" || draft.subtype === "compaction-failed")
      ? { ...draft, source }
      : draft,
  )

/** What requests cost, under names that begin with `name`. */
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

// What a compaction is asked for, what it would do, and how far it has come: the types that layer 4 shares with the loop.

/** Routes to a summary, cheapest first. */
export const ROUTES = ["notes", "server", "shared", "direct", "offline"] as const
/** How a summary is produced. */
export type CompactionRoute = (typeof ROUTES)[number]

/** How each route is named to a person. */
export const COMPACTION_ROUTE_LABELS: Readonly<Record<CompactionRoute, string>> = {
  notes: "from the notes",
  server: "by the model's API",
  shared: "by the model, from its cache",
  direct: "by the model",
  offline: "without a model",
}

/** What to compact, and how. */
export interface ResolvedCompactionRequest {
  readonly trigger: "auto" | "manual"
  /** What the summary should focus on, in the user's own words. */
  readonly instructions?: string
  /** Only what comes after a message, or only what comes before it. Default: everything. */
  readonly range?: CompactionRange
  /** The only routes to try. Default: by hand those that ask a model, automatically all of them. */
  readonly routes?: readonly CompactionRoute[]
  /** The API has refused a request as too long: the context must shrink even if the estimate says it fits. */
  readonly overflowed?: boolean
  /** How often the same request was compacted for already, and refused again. Each attempt aims lower. Default 0. */
  readonly attempt?: number
  /** The limits to fit, where they are not the conversation's own: those of a model to switch to. */
  readonly target?: Thresholds
  /** Tokens of all that is left besides system prompt and tools. Where that cannot be reached, nothing changes and the least is said. */
  readonly budget?: number
  /** Shown the summary before it takes effect. What it resolves with is used in its place; nothing, or an empty text, cancels. */
  readonly review?: (written: WrittenSummary) => Promise<string | undefined>
  /** Why the planner compacts before the window is full, in one sentence. */
  readonly planned?: string
  /** Takes exactly this summary, which a plan wrote. It fails where the conversation has changed since. */
  readonly written?: PlannedSummary
}

/** A summary, and how it was produced. */
export interface WrittenSummary {
  readonly text: string
  readonly route: CompactionRoute
}

/** The summary that a compaction would install. */
export interface PlannedSummary extends WrittenSummary {
  /** The last message that it covers. */
  readonly last: Uuid
}

/** A part of the conversation: from a message on, or up to one. */
export interface CompactionRange {
  readonly kind: "from" | "up-to"
  readonly uuid: Uuid
}

/**
 * What would be summarised, what would be kept, and what it would cost. The figures add up: `fixed`, `summarised` and `kept` are
 * `tokensBefore`; `fixed`, the summary, what is kept (`shortenedTo`, if set) and what is added are `expectedAfter`.
 */
export interface CompactionPlan {
  readonly trigger: ResolvedCompactionRequest["trigger"]
  readonly kind: "all" | CompactionRange["kind"]
  /** In the order they are tried. */
  readonly routes: readonly CompactionRoute[]
  readonly summarised: {
    readonly messages: number
    readonly tokens: number
    readonly first: Uuid
    readonly last: Uuid
  }
  /** `shortenedTo`: the size of what is kept after long results in it were shortened. */
  readonly kept: { readonly uuids: readonly Uuid[]; readonly tokens: number; readonly shortenedTo?: number }
  /** System prompt and tools, which stay. */
  readonly fixed: number
  /** What is added after the summary, one line each. */
  readonly restored: readonly string[]
  /** The size of that. */
  readonly added: number
  /**
   * Its size with the text around it. `expected`: no model has written it yet. Then it is judged by this many earlier summaries of the
   * conversation, or with 0 of them by the length that the model is asked for.
   */
  readonly summary:
    | { readonly tokens: number; readonly is: "written" }
    | { readonly tokens: number; readonly is: "expected"; readonly earlier: number }
  /** The summary, where a model was asked for it. Give it to `compact` to take exactly this one. */
  readonly written?: PlannedSummary
  readonly tokensBefore: number
  readonly expectedAfter: number
  /** The least and the most that it may be. Both are `expectedAfter` where the summary is written. */
  readonly between: readonly [min: number, max: number]
  /** Whether that is enough. A compaction that gains too little is refused. */
  readonly isWorthIt: boolean
  /** Price of the model call by the first route. Absent where there is no call or no known price. */
  readonly dollars?: number
}

/** Why there is no compaction. */
export interface CompactionRefusal {
  readonly kind: "refused"
  readonly why: CompactionRefusalReason
  /** For the person: what happened, what was kept, what to do next. */
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

/** How far a compaction has come. */
export type CompactionProgress =
  | {
      readonly phase: "preparing" | "summarising" | "restoring"
      readonly route?: CompactionRoute
      readonly characters?: number
    }
  /** A hook runs. */
  | { readonly phase: "hook"; readonly event: "PreCompact" | "SessionStart"; readonly hook: string }
  /** Still running: every half minute. */
  | { readonly phase: "alive"; readonly seconds: number }
  /** Something for the person, from a hook or about a route that failed. */
  | { readonly phase: "message"; readonly message: string }
  | {
      readonly phase: "done"
      readonly route: CompactionRoute
      readonly tokensBefore: number
      readonly tokensAfter: number
      /** How the summary was checked. */
      readonly audit?: AuditFigures
      /** What the context held before, by class. */
      readonly content: ContextBreakdown
    }
  | { readonly phase: "failed"; readonly message: string }

/** The layers of this package, and any name for a layer of your own. */
export type LayerName =
  | "tool-results"
  | "microcompact"
  | "fold"
  | "session-memory"
  | "compaction"
  | "auto-memory"
  | "dreaming"
  | (string & Record<never, never>)

/** What a layer may look at. */
export interface LayerContext {
  readonly conversation: string
  readonly model: string
  readonly facts: ModelFacts
  /** @internal */
  readonly views: Views
  readonly size: ContextSize
  readonly thresholds: Thresholds
  /** @internal Those of another model, by what its server has shown. */
  readonly thresholdsOf: (model: Model) => Thresholds
  readonly fill: WindowUsage
  /** @internal Switches and figures, read once per turn. */
  readonly flags: Flags
  readonly now: Date
  /** Reads entries that the views do not hold, and puts content aside. To add entries, return drafts. */
  readonly journal: Pick<
    Journal,
    "address" | "location" | "file" | "notesPath" | "find" | "writeBlob" | "readBlob" | "readNotes" | "writeNotes"
  >
  /** Whether the conversation may be compacted, and whether that happens by itself: only where a layer can do it. */
  readonly compaction: { readonly auto: boolean; readonly manual: boolean }
  /** A uuid for a message that another draft refers to. */
  readonly newUuid: () => Uuid
  /** The request that forks start from: the conversation as it is now, on the cache of its last request. Building it changes nothing. */
  readonly request: () => Promise<ModelRequest>
  /** Whether the model can look up what leaves the context: it has the tool Recall, or gets it then. */
  readonly canRecall: boolean
  /** Whether it had been idle for long, and nothing was said since it was opened. */
  readonly isIdleSinceOpening: boolean
  /** @internal What is known about pauses before the conversation has had any. */
  readonly prior?: PausePrior | undefined
  /** Starts work of a layer in the background. What it decides is journaled when it is done. */
  readonly runInBackground: (
    layer: Pick<Layer, "name">,
    work: (context: LayerContext) => Promise<LayerResult | undefined>,
  ) => void
  /** Aborted when the conversation closes, or when the caller gives up. */
  readonly signal: AbortSignal
  /** Reports how far a long task has come. */
  readonly progress: (progress: CompactionProgress) => void
}

/** What a layer decided. Nothing has changed until the drafts are in the journal. */
export interface LayerResult {
  /** Journaled together: after a crash all of them are there, or none. */
  readonly drafts: readonly EntryDraft[]
  /** One line for the person. A function gets the tokens that the drafts saved. */
  readonly message?: string | ((effect: { readonly saved: number }) => string | undefined)
  /** For telemetry: what set it off, where that is neither someone's wish nor what the drafts say. */
  readonly trigger?: LayerTrigger
  /** For telemetry: how many of what, such as `memories.written`. */
  readonly counts?: Readonly<Record<string, number>>
  /** For telemetry: what else is known about it. */
  readonly facts?: Readonly<Record<string, string | number | boolean>>
  /** What could not be done. Each is reported; the drafts are journaled all the same. */
  readonly failures?: readonly unknown[]
  /** Runs once the drafts are in the journal and the views have followed. */
  journaled?(context: LayerContext): Promise<void>
  /** Runs when the drafts could not be written. */
  lost?(): void
}

/** Who sends a request. A fork reads the cache that the conversation's last request left, so it may ask for nothing that changes it. */
export type RequestSender = "conversation" | "fork"

/** Keeps the conversation within its window. Each method is optional. */
export interface Layer {
  readonly name: LayerName
  /** When tool results arrive, before they are first sent. `results`: all of one message. */
  onToolResults?(context: LayerContext, results: readonly ToolResult[]): Promise<LayerResult | undefined>
  /** Before every request, in the order of the layers: the cheapest first. */
  beforeRequest?(context: LayerContext): Promise<LayerResult | undefined>
  /** Where no request fits after all that: what else makes room, whatever it costs. It is asked again as long as it answers. */
  whenBlocked?(context: LayerContext): Promise<LayerResult | undefined>
  /** When a request has been prepared, while the model answers. The request does not wait for it, and it decides nothing. */
  whileAnswered?(context: LayerContext): void
  /** After a response was recorded, in the background. */
  afterResponse?(context: LayerContext): Promise<LayerResult | undefined>
  /** After a final answer, in the background. */
  afterQuery?(context: LayerContext): Promise<LayerResult | undefined>
  /** In a pause, shortly before the server forgets what was sent last, in the background. */
  beforeExpiry?(context: LayerContext): Promise<LayerResult | undefined>
  /** @internal How long the server would be asked to keep what a request caches that is sent now. `compacted`: its size after a compaction. */
  nextLifetime?(context: LayerContext, compacted?: number): CacheLifetime
  /** What the request carries besides the conversation. Pure: equal views give equal bytes. */
  requestExtras?(context: LayerContext, sender: RequestSender): RequestExtras | undefined
}

/** How far the next compaction has been prepared. */
export type PreparedState = "not-begun" | "being-written" | "ready"

/** What a compaction would keep verbatim after a summary. */
export interface VerbatimTail {
  /** Tokens that the summary does not cover. */
  readonly tokens: number
  /** The same as they would be kept: with long results shortened. */
  readonly shortened: number
}

/** The compaction that comes next. */
export interface UpcomingCompaction {
  /** Of its summary. One that would gain too little does not count as ready. */
  readonly state: PreparedState
  /** What would be kept verbatim after that summary. Absent where none is ready. */
  readonly tail?: VerbatimTail
  /** With the next request. Otherwise with a request of the person, after a pause, or in a full window. */
  readonly isNow: boolean
  /** What it saves over the turns in which a clearing must pay, in tokens of plain input. Absent where it would gain too little. */
  readonly worth?: number
}

/** A layer that can replace the conversation by a summary. */
export interface Compactor extends Layer {
  /** What `compact` would do, as a value that can be printed. It changes nothing. */
  plan(context: LayerContext, order: ResolvedCompactionRequest): Promise<CompactionPlan | CompactionRefusal>
  /** Compacts because someone asked for it. It throws where it refuses. */
  compact(context: LayerContext, order: ResolvedCompactionRequest): Promise<LayerResult>
  /** How far the next one is, by the planner's prices. */
  upcoming?(context: LayerContext): UpcomingCompaction
  /** Drops the summary that is ready or being written. Returns whether there was one. */
  drop?(context: LayerContext): boolean
  /** A compaction was undone: what the layer remembers about it no longer holds. */
  undone?(): void
}

export function isCompactor(layer: Layer): layer is Compactor {
  const { plan, compact } = layer as Partial<Compactor>
  return typeof plan === "function" && typeof compact === "function"
}

// How far a conversation is complete: up to which message, and which calls are still open.

export interface Position {
  /** The last complete message. While calls are open: the one before the turn that made them. */
  readonly throughUuid: Uuid | undefined
  /** Calls of the last assistant turn that have no result yet. */
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
  const openCalls = turn.pieces.flatMap(callsIn).filter((id) => !answered.has(id))
  const last = openCalls.length > 0 ? messages[turn.start - 1] : messages.at(-1)
  return { throughUuid: last?.uuid, openCalls }
}

export interface AssistantTurn {
  readonly pieces: readonly AssistantMessage[]
  /** Index of its first message. */
  readonly start: number
}

/** The last response. It may be split into several messages with results between them. Nothing before it is read. */
export function lastTurn(messages: readonly Message[]): AssistantTurn {
  const pieces: AssistantMessage[] = []
  let start = messages.length
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]!
    if (message.type !== "assistant") continue
    const { id } = message.message
    if (pieces.length > 0 && (id === undefined || id !== pieces[0]!.message.id)) break
    pieces.unshift(message)
    start = at
  }
  return { pieces, start }
}

export const callsIn = (message: AssistantMessage): string[] =>
  contentOf(message)
    .filter(isToolUse)
    .map(({ id }) => id)
