/** The interface through which Recall reads a conversation. The conversation implements it over its journal and the search index. */
import type { Block } from "../../messages/blocks.ts"

export const RECALL_TOOL = "Recall"

export const RECALL_KINDS = ["user", "assistant", "call", "result"] as const
/** Kinds of texts that Recall can search. */
export type RecallKind = (typeof RECALL_KINDS)[number]

/** Input of the Recall tool. Everything is validated again before use. */
export interface RecallInput {
  readonly handle?: string
  readonly offset?: number
  readonly from?: string
  readonly to?: string
  readonly search?: string
  readonly in?: "conversation" | "project"
  readonly kind?: RecallKind
  readonly since?: string
  readonly until?: string
  readonly budget?: number
}

/** A recalled text: a block of a message, or an attachment. */
export interface RecalledText {
  readonly handle: string
  /** `note`: written by neither the user nor the model, such as an attached file or a summary. */
  readonly kind: RecallKind | "note"
  /** Name of the tool of a call or a result, or the kind of a note. */
  readonly label?: string
  readonly time: string
  readonly text: string
  /** Set if the text is a part: its offset in the complete text, in characters. */
  readonly start?: number
  /** Length of the complete text, if this is a part. */
  readonly length?: number
}

/** The message or block that a handle names. */
export interface RecalledItem {
  /** All texts of the message, or the single block that the handle names. */
  readonly texts: readonly RecalledText[]
  /** Images and documents, if the handle names one. */
  readonly media: readonly Block[]
  /** Texts of the messages directly before and after. */
  readonly before: readonly RecalledText[]
  readonly after: readonly RecalledText[]
}

export interface RecallFilter {
  readonly kind?: RecallKind
  readonly since?: Date
  readonly until?: Date
}

export interface RecallRange extends RecallFilter {
  readonly from: string
  /** Last handle of the range. Absent: to the end. */
  readonly to?: string
}

export interface RecallSearch extends RecallFilter {
  readonly text: string
  readonly in: "conversation" | "project"
  readonly limit: number
}

export interface RecallMatch extends RecalledText {
  /** Offset of the match in `text`. */
  readonly at: number
  /** The part of `text` that matched. */
  readonly matched: { readonly from: number; readonly to: number }
  /** The text directly before the match, and the one after it. */
  readonly before?: RecalledText
  readonly after?: RecalledText
}

export interface RecallMatches {
  readonly found: readonly RecallMatch[]
  /** Number of matches that are not in `found`. */
  readonly more: number
  /** A sentence about what was not searched. */
  readonly gap?: string
}

export interface RecallSource {
  findByHandle(handle: string): Promise<readonly RecalledItem[]>
  /** Texts of a range in chronological order. `undefined` if one of the handles does not exist. */
  range(range: RecallRange): Promise<AsyncIterable<RecalledText> | undefined>
  search(search: RecallSearch): Promise<RecallMatches>
  /** `false` once the conversation is closed. */
  isOpen(): boolean
  /** Estimates the tokens of a text. */
  estimate(text: string): number
}
