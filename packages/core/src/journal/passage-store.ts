/**
 * The part of the `Store` port that keeps a search index, for stores with a server: every process then reads and extends the same one, and a new
 * process reads no journal again. It keeps passages of sources, and lists which of them have a token. What a token is, and which passages answer a
 * question, is decided by the index that uses it. It may cross a network: each method but `remove` is one round trip.
 */

export interface PassageStore extends PassageReader {
  /** How far each source was read, by its name. A mark is any text. */
  positions(): Promise<ReadonlyMap<string, string>>
  /**
   * Takes the steps in one transaction. For each: whether it was taken. It is refused if the source's mark is not the one that the step begins at.
   * A source that has the step's last mark already has the step: its answer was lost, so it counts as taken and adds nothing.
   */
  extend(steps: readonly PassageUpdate[]): Promise<readonly boolean[]>
  /**
   * Removes the sources whose mark is still the one given here, by their name. `tokensOf`: the tokens that a passage was added with, since a shelf
   * does not keep them.
   */
  remove(positions: ReadonlyMap<string, string>, tokensOf: (row: StoredPassage) => readonly string[]): Promise<void>
  /** Removes everything. */
  clear(): Promise<void>
}

/** What a question asks. */
export interface PassageReader {
  /** What is new since, and what a question needs to know of its tokens. All of it is of one state of the shelf. */
  changes(since: PassageCursor): Promise<PassageDelta>
  /** For each token the passages that have it, in their order. `source`: others than this one's may be left out. It may list passages that were removed. */
  postings(tokens: readonly string[], source?: number): Promise<readonly Uint32Array[]>
  /** All tokens without an underscore, in their order, each followed by a line end. */
  vocabulary(): Promise<string>
  /** Those that are there, in any order. */
  rows(ids: readonly number[]): Promise<readonly StoredPassage[]>
  /** Those of these passages that have a text as it is written: the newest `most`, the newest first. */
  containing(wanted: TextQuery): Promise<readonly number[]>
  /** For each of these passages the ones of its source around it, in their order, with itself: up to so many numbers away. Empty where it is not there. */
  neighbors(ids: readonly number[], max: number): Promise<readonly (readonly StoredPassage[])[]>
}

/** From one state of a source to the next. */
export interface PassageUpdate {
  readonly source: string
  readonly passages: readonly NewPassage[]
  /** The mark that the caller saw. `undefined`: the source is new. */
  readonly from: string | undefined
  readonly to: string
}

/** Texts may have any characters. */
export interface NewPassage {
  /** The message. */
  readonly uuid: string
  /** Digits and dots, or empty. */
  readonly blocks: string
  readonly kind: string
  readonly isDialogue: boolean
  /** A small number that the index understands. */
  readonly facts: number
  readonly label?: string
  /** Milliseconds since 1970, or NaN. */
  readonly time: number
  readonly start: number
  readonly length: number
  /** How many terms it has. */
  readonly terms: number
  /** Each once: letters a to z, digits and underscores. */
  readonly tokens: readonly string[]
  readonly text: string
}

/** A passage as it is read again. */
export interface StoredPassage {
  /** Passages that are added later have larger numbers. The first is 1. */
  readonly id: number
  /** The number of its source. */
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

/** What the caller knows already. */
export interface PassageCursor {
  /** The largest number of a passage, and of a source. 0: nothing. */
  readonly passage: number
  readonly source: number
  readonly removals: number
  /** Up to this many new passages are wanted as rows too. */
  readonly maxRows: number
  /** In how many passages are these? */
  readonly tokens: readonly string[]
  /** The first `mostMissed` of these that no passage has are looked up by their beginning: at most `mostSimilar` tokens for each. */
  readonly queryTokens: readonly string[]
  readonly maxMissed: number
  readonly maxSimilar: number
}

export interface PassageDelta {
  /** How often something was removed. If it is not the number that the caller knew, everything is given again. */
  readonly removals: number
  /** Of the new passages, in their order: `FACTS` numbers for each. */
  readonly facts: readonly ArrayLike<number>[]
  /** The names of the new sources, by their number. */
  readonly sources: ReadonlyMap<number, string>
  /** The new passages. Absent if there are more than were wanted; it may be absent where everything is given. */
  readonly rows?: readonly StoredPassage[]
  /** In the order of the tokens. */
  readonly documents: readonly number[]
  /** For tokens that no passage has: those that begin with them, in the fewest passages first, then in their order. */
  readonly byPrefix: ReadonlyMap<string, readonly TokenCount[]>
}

/** Numbers that `ShelfNews.facts` has for each passage: id, source, turn, facts, terms, length, time. A turn begins with another message of the person or the assistant. */
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

/** Whose passages a shelf keeps. */
export interface PassageStoreAddress {
  readonly project: string
  readonly under?: string
  /** Only of this conversation. */
  readonly only?: string
  /** How its tokens are made. Shelves whose tokens are made otherwise share nothing, so that versions of the library can run side by side. */
  readonly tokens: number
}
