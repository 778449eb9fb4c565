/**
 * The part of the `Store` port that an index follows: which journals of a place have grown, and their lines from a place on. A line is given as
 * the bytes that it has.
 */

export interface JournalFeed {
  /** A directory for the index, if the store keeps files. Otherwise the index is kept in memory. */
  readonly directory?: string
  /** The journals that may have grown since the last look. `unread`: seen before, and to be looked at again. */
  look(unread: ReadonlySet<string>): Promise<LookedAt>
  /** The sizes of these journals. One that is not there is left out. */
  sizes(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, JournalSize>>
  /** Looks at everything the next time: what was seen was not read. */
  forget(): void
  /** The lines from an offset on, which is the beginning of a line. Nothing if the journal is not there. */
  lines(id: string, from: number): AsyncIterable<FeedLine>
  /** Calls back with what this process appends. Returns what ends it. */
  onAppended(listener: (appended: AppendedLines) => void): () => void
  close(): void
}

export interface JournalSize {
  readonly bytes: number
  /** When it was last written to: milliseconds. */
  readonly touched: number
}

export interface LookedAt {
  /** The journals that may have grown, the last written first. */
  readonly journals: ReadonlyMap<string, JournalSize>
  /** Whether these are all there are. */
  readonly isAll: boolean
  /** Journals that were there and are no more. */
  readonly gone: readonly string[]
}

export interface FeedLine {
  readonly offset: number
  /** Without its line end. */
  readonly bytes: Buffer
  /** False while it is being written. */
  readonly ended: boolean
}

/** Whole lines, with their ends. */
export interface AppendedLines {
  readonly conversation: string
  /** Where in the journal they begin. */
  readonly from: number
  readonly bytes: Buffer
}
