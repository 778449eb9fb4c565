/**
 * What a layer is. A layer reads the views and answers with an outcome: drafts of entries, and what follows once they are in the journal.
 * The conversation writes them and the views follow. No layer knows another, and a layer that fails never breaks the conversation.
 */

import type { CacheLifetime } from "../base/vocabulary.ts"
import type { Draft } from "../journal/entries.ts"
import type { Journal } from "../journal/store.ts"
import type { ToolResult } from "../messages/blocks.ts"
import type { Uuid } from "../messages/messages.ts"
import type { ModelRequest, RequestExtras } from "../messages/request.ts"
import type { Model } from "../model/model.ts"
import type { Flags } from "../settings/flags.ts"
import type { ContextSize } from "../tokens/context-size.ts"
import type { ModelFacts } from "../tokens/model-facts.ts"
import type { Fill, Thresholds } from "../tokens/window.ts"
import type { PausePrior } from "../views/cache/earlier-pauses.ts"
import type { Views } from "../views/views.ts"
import type { Trigger } from "./action-report.ts"
import type { CompactionOrder, CompactionPlan, CompactionProgress, Refusal } from "./compaction-order.ts"

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
  readonly fill: Fill
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
  readonly isOnlyOpened: boolean
  /** @internal What is known about pauses before the conversation has had any. */
  readonly prior?: PausePrior | undefined
  /** Starts work of a layer in the background. What it decides is journaled when it is done. */
  readonly meanwhile: (
    layer: Pick<Layer, "name">,
    work: (context: LayerContext) => Promise<Outcome | undefined>,
  ) => void
  /** Aborted when the conversation closes, or when the caller gives up. */
  readonly signal: AbortSignal
  /** Reports how far a long task has come. */
  readonly progress: (progress: CompactionProgress) => void
}

/** What a layer decided. Nothing has changed until the drafts are in the journal. */
export interface Outcome {
  /** Journaled together: after a crash all of them are there, or none. */
  readonly drafts: readonly Draft[]
  /** One line for the person. A function gets the tokens that the drafts saved. */
  readonly message?: string | ((effect: { readonly saved: number }) => string | undefined)
  /** For telemetry: what set it off, where that is neither someone's wish nor what the drafts say. */
  readonly trigger?: Trigger
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
export type Sender = "conversation" | "fork"

/** Keeps the conversation within its window. Each method is optional. */
export interface Layer {
  readonly name: LayerName
  /** When tool results arrive, before they are first sent. `results`: all of one message. */
  onToolResults?(context: LayerContext, results: readonly ToolResult[]): Promise<Outcome | undefined>
  /** Before every request, in the order of the layers: the cheapest first. */
  beforeRequest?(context: LayerContext): Promise<Outcome | undefined>
  /** Where no request fits after all that: what else makes room, whatever it costs. It is asked again as long as it answers. */
  whenBlocked?(context: LayerContext): Promise<Outcome | undefined>
  /** After a response was recorded, in the background. */
  afterResponse?(context: LayerContext): Promise<Outcome | undefined>
  /** After a final answer, in the background. */
  afterQuery?(context: LayerContext): Promise<Outcome | undefined>
  /** In a pause, shortly before the server forgets what was sent last, in the background. */
  beforeExpiry?(context: LayerContext): Promise<Outcome | undefined>
  /** @internal How long the server would be asked to keep what a request caches that is sent now. `compacted`: its size after a compaction. */
  nextLifetime?(context: LayerContext, compacted?: number): CacheLifetime
  /** What the request carries besides the conversation. Pure: equal views give equal bytes. */
  requestExtras?(context: LayerContext, sender: Sender): RequestExtras | undefined
}

/** How far the next compaction has been prepared. */
export type PreparedState = "not-begun" | "being-written" | "ready"

/** What a compaction would keep verbatim after a summary. */
export interface Tail {
  /** Tokens that the summary does not cover. */
  readonly tokens: number
  /** The same as they would be kept: with long results shortened. */
  readonly kept: number
}

/** The compaction that comes next. */
export interface UpcomingCompaction {
  /** Of its summary. One that would gain too little does not count as ready. */
  readonly state: PreparedState
  /** What would be kept verbatim after that summary. Absent where none is ready. */
  readonly tail?: Tail
  /** With the next request. Otherwise with a request of the person, after a pause, or in a full window. */
  readonly isNow: boolean
  /** What it saves over the turns in which a clearing must pay, in tokens of plain input. Absent where it would gain too little. */
  readonly worth?: number
}

/** A layer that can replace the conversation by a summary. */
export interface Compactor extends Layer {
  /** What `compact` would do, as a value that can be printed. It changes nothing. */
  plan(context: LayerContext, order: CompactionOrder): Promise<CompactionPlan | Refusal>
  /** Compacts because someone asked for it. It throws where it refuses. */
  compact(context: LayerContext, order: CompactionOrder): Promise<Outcome>
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
