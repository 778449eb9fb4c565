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
  /** An entry was written to the journal. */
  entry: { readonly entry: Entry }
  /** The view was repaired to be valid. */
  repaired: { readonly repairs: readonly Repair[] }
  /** A request is ready to be sent. */
  prepared: PreparedEvent
  /** A response was written to the journal. */
  recorded: { readonly counts: TokenCounts | undefined; readonly cost: Cost; readonly stopReason: string | undefined }
  /** The progress of a compaction. */
  compaction: CompactionProgress
  /** Tokens that a response read from the server's cache and wrote to it, compared with the prediction. */
  cache: CacheEvent
  /** A notice for the user, reported once. */
  notice: { readonly message: string }
}

/** Internal events between the parts of a conversation. */
export interface RecordEvents {
  /** The views were loaded again after being unloaded. */
  woken: object
  /** The views were reloaded, because some of their entries could not be written. */
  reloaded: object
}

/** The next request, and the window usage with it. */
export interface PreparedEvent {
  readonly request: ModelRequest
  readonly size: ContextSize
  readonly fill: WindowUsage
}

/** Result of opening a conversation. */
export interface OpenResult extends OpeningReport {
  readonly resumed: boolean
  /** Part of the journal that resuming read: after the last boundary, or all of it. */
  readonly read: "tail" | "all"
}
