/** The events of a conversation. */

import type { TokenCounts } from "../base/text.ts"
import type { Entry } from "../journal/entries.ts"
import type { OpeningReport } from "../journal/store.ts"
import type { CompactionProgress } from "../layers/layer.ts"
import type { LayerEvents } from "../layers/pipeline.ts"
import type { Repair } from "../messages/messages.ts"
import type { ModelRequest } from "../messages/request.ts"
import type { CacheEvent } from "../model/cache/forecast.ts"
import type { ContextSize } from "../tokens/context-size.ts"
import type { Cost } from "../tokens/models.ts"
import type { WindowUsage } from "../tokens/window.ts"

export interface ConversationEvents extends LayerEvents {
  /** An entry is in the journal. */
  entry: { readonly entry: Entry }
  /** The view was repaired to be valid. */
  repaired: { readonly repairs: readonly Repair[] }
  /** A request is ready to be sent. */
  prepared: PreparedEvent
  /** A response is in the journal. */
  recorded: { readonly counts: TokenCounts | undefined; readonly cost: Cost; readonly stopReason: string | undefined }
  /** The progress of a compaction. */
  compaction: CompactionProgress
  /** What a response read from the server's cache and wrote to it, compared with the prediction. */
  cache: CacheEvent
  /** Something a person should know, reported once. */
  notice: { readonly message: string }
}

/** What only the parts of a conversation listen to. */
export interface RecordEvents {
  /** The views are there again after a sleep. */
  woken: object
  /** The views were loaded again, because entries that they had could not be written. */
  reloaded: object
}

/** The next request, and how full the context is with it. */
export interface PreparedEvent {
  readonly request: ModelRequest
  readonly size: ContextSize
  readonly fill: WindowUsage
}

/** What opening a conversation found. */
export interface OpenResult extends OpeningReport {
  readonly resumed: boolean
  /** Whether resuming read only the part after the last boundary. */
  readonly read: "tail" | "all"
}
