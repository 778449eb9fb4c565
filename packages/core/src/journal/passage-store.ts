/**
 * The part of the `Store` port for a search index on a server: all processes read and extend the same index, and a new process reads no
 * journal again. It stores passages of sources and lists the passages of each token. The index that uses it decides what a token is and
 * which passages match a query. Each method except `remove` is one round trip.
 */

export interface PassageStore extends PassageReader {
  /** How far each source was read, by source name. A position is any text. */
  positions(): Promise<ReadonlyMap<string, string>>
  /**
   * Applies the updates in one transaction. For each update, returns whether it was applied. It is refused if the source's position is not
   * the update's `from`. A source that is already at `to` has the update: its response was lost, so it counts as applied and adds nothing.
   */
  extend(steps: readonly PassageUpdate[]): Promise<readonly boolean[]>
  /**
   * Removes the sources that are still at the given position, by name. `tokensOf` returns the tokens a passage was added with, which the
   * store does not hold.
   */
  remove(positions: ReadonlyMap<string, string>, tokensOf: (row: StoredPassage) => readonly string[]): Promise<void>
  /** Removes everything. */
  clear(): Promise<void>
}

/** Queries of the passage store. */
export interface PassageReader {
  /** Changes since a cursor, and statistics of the query's tokens. All values belong to one state of the store. */
  changes(since: PassageCursor): Promise<PassageDelta>
  /** The passages of each token, in order. With `source`, passages of other sources may be omitted. Removed passages may be listed. */
  postings(tokens: readonly string[], source?: number): Promise<readonly Uint32Array[]>
  /** All tokens without an underscore, sorted, each followed by a line end. */
  vocabulary(): Promise<string>
  /** The existing passages with these ids, in any order. */
  rows(ids: readonly number[]): Promise<readonly StoredPassage[]>
  /** The passages among `ids` that contain a literal text: the newest `max`, newest first. */
  containing(wanted: TextQuery): Promise<readonly number[]>
  /**
   * For each passage, its neighbors in the same source and itself, in order: up to `max` on each side. Empty if the passage does not
   * exist.
   */
  neighbors(ids: readonly number[], max: number): Promise<readonly (readonly StoredPassage[])[]>
}

/** Takes a source from one position to the next. */
export interface PassageUpdate {
  readonly source: string
  readonly passages: readonly NewPassage[]
  /** The position that the caller has read. `undefined` for a new source. */
  readonly from: string | undefined
  readonly to: string
}

/** A passage to add. Texts may contain any characters. */
export interface NewPassage {
  /** The message's uuid. */
  readonly uuid: string
  /** Positions of its blocks: digits and dots, or empty. */
  readonly blocks: string
  readonly kind: string
  readonly isDialogue: boolean
  /** A small number with flags of the index. */
  readonly facts: number
  readonly label?: string
  /** Milliseconds since 1970, or NaN. */
  readonly time: number
  readonly start: number
  readonly length: number
  /** Number of terms. */
  readonly terms: number
  /** Distinct tokens of letters a to z, digits and underscores. */
  readonly tokens: readonly string[]
  readonly text: string
}

/** A passage as stored. */
export interface StoredPassage {
  /** Ids grow in the order of addition. The first is 1. */
  readonly id: number
  /** The number of the passage's source. */
  readonly source: number
  readonly uuid: string
  readonly blocks: string
  readonly facts: number
  readonly label?: string
  readonly time: number
  readonly start: number
  readonly length: number
  readonly text: string
}

/** The state that the caller already has. */
export interface PassageCursor {
  /** The largest known id of a passage, and of a source. 0 if none. */
  readonly passage: number
  readonly source: number
  readonly removals: number
  /** Up to this many new passages are also returned as rows. */
  readonly maxRows: number
  /** Tokens whose document counts are requested. */
  readonly tokens: readonly string[]
  /** The first `maxMissed` of these that no passage contains are looked up by prefix, with at most `maxSimilar` tokens each. */
  readonly queryTokens: readonly string[]
  readonly maxMissed: number
  readonly maxSimilar: number
}

export interface PassageDelta {
  /** Number of removals so far. If it differs from the caller's, everything is returned. */
  readonly removals: number
  /** `FACTS` numbers for each new passage, in order. */
  readonly facts: readonly ArrayLike<number>[]
  /** The names of the new sources, by their number. */
  readonly sources: ReadonlyMap<number, string>
  /** The new passages. Absent if there are more than `maxRows`; may be absent if everything is returned. */
  readonly rows?: readonly StoredPassage[]
  /** Document counts, in the order of the tokens. */
  readonly documents: readonly number[]
  /** For tokens that no passage contains: tokens with that prefix, those in the fewest passages first, then in order. */
  readonly byPrefix: ReadonlyMap<string, readonly TokenCount[]>
}

/**
 * Numbers per passage in `PassageDelta.facts`: id, source, turn, facts, terms, length, time. A turn starts with each message of the user
 * or the assistant.
 */
export const FACTS = 7

export interface TokenCount {
  readonly token: string
  readonly documents: number
}

export interface TextQuery {
  readonly ids: Uint32Array
  readonly text: string
  readonly max: number
}

/** Identifies the passage store of a project or conversation. */
export interface PassageStoreAddress {
  readonly project: string
  readonly under?: string
  /** Limits it to this conversation. */
  readonly only?: string
  /** Version of the tokenization. Stores with different versions share nothing, so that versions of the library can run side by side. */
  readonly tokens: number
}
