/** Stores lines of other programs in journals, and reads them from an offset on. */
import type { Clock, DecisionEntry, Ids } from "@strata/core"
import { type DecisionOf, decodeLine, isDecision } from "@strata/core/store"
import type { JournalLocation } from "./exclusive-write.ts"

/** Sources of times and ids. */
export interface EntrySources {
  readonly clock: Clock
  readonly ids: Ids
}

export type ExternalEntry = DecisionEntry & DecisionOf<"foreign-line" | "foreign-change">

/** A line of the journal. Without `entry`, the line is unreadable. */
export interface ReadLine {
  readonly entry?: ExternalEntry
  readonly offset: number
  /** Offset of the next line. */
  readonly next: number
}

/** Reads from an offset on with one call of the store and without a lock. A line that is being written is left for the next read. */
export async function* readFrom({ store, address }: JournalLocation, from: number): AsyncGenerator<ReadLine> {
  const { id, ...place } = address
  const feed = store.feed(place)
  try {
    for await (const { bytes, offset, ended } of feed.lines(id, from)) {
      if (!ended) return
      const at = { offset, next: offset + bytes.length + 1 }
      const decoded = decodeLine(bytes)
      if (decoded.state === "damaged") yield at
      else if (isDecision(decoded.entry) && isExternal(decoded.entry)) yield { ...at, entry: decoded.entry }
    }
  } finally {
    feed.close()
  }
}

const isExternal = (entry: DecisionEntry): entry is ExternalEntry =>
  entry.subtype === "foreign-line" || entry.subtype === "foreign-change"

type ExternalDraft = DecisionOf<"foreign-line" | "foreign-change"> & { readonly uuid?: string }

/** The journal entry of a line or a change. */
export const externalEntry = (draft: ExternalDraft, { clock, ids }: EntrySources): ExternalEntry => ({
  type: "strata",
  uuid: ids.uuid(),
  parentUuid: null,
  timestamp: clock.now().toISOString(),
  ...draft,
})
