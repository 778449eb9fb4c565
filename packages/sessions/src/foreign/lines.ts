/** The lines that another program keeps in a journal: how they are written down, and how they are read from a place on. */
import type { Clock, DecisionEntry, Ids } from "@strata/core"
import { type DecisionOf, decodeLine, isDecision } from "@strata/core/store"
import type { Place } from "./write-alone.ts"

/** Where times and ids come from. */
export interface Sources {
  readonly clock: Clock
  readonly ids: Ids
}

export type ExternalEntry = DecisionEntry & DecisionOf<"foreign-line" | "foreign-change">

/** A line as it was read. Without an entry: it cannot be read. */
export interface ReadLine {
  readonly entry?: ExternalEntry
  readonly offset: number
  /** Where the line after it begins. */
  readonly next: number
}

/** From an offset on. One call of the store, and nothing is locked: a line that is being written is left for the next time. */
export async function* readFrom({ store, address }: Place, from: number): AsyncGenerator<ReadLine> {
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

type Draft = DecisionOf<"foreign-line" | "foreign-change"> & { readonly uuid?: string }

/** What a line or a change is in the journal. */
export const externalEntry = (draft: Draft, { clock, ids }: Sources): ExternalEntry => ({
  type: "strata",
  uuid: ids.uuid(),
  parentUuid: null,
  timestamp: clock.now().toISOString(),
  ...draft,
})
