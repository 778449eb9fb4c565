/** What the Recall tool asks a conversation for. The conversation implements it over its journal and the search index. */
import type { Block } from "../../messages/blocks.ts"

export const RECALL_TOOL = "Recall"

export const RECALL_KINDS = ["user", "assistant", "call", "result"] as const
/** Whose texts Recall searches. */
export type RecallKind = (typeof RECALL_KINDS)[number]

/** What the model may pass. Everything is checked again before it is used. */
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

/** A text of the past: a block of a message, or what was attached. */
export interface RecalledText {
  readonly handle: string
  /** `note`: neither the person nor the model wrote it, such as an attached file or a summary. */
  readonly kind: RecallKind | "note"
  /** The tool of a call or a result, the kind of a note. */
  readonly label?: string
  readonly time: string
  readonly text: string
  /** The text is a part: it begins at this character of the whole. */
  readonly start?: number
  /** Characters of the whole, if the text is a part. */
  readonly length?: number
}

/** What has a handle: usually one, newest first. */
export interface RecalledPlace {
  /** All texts of the message, or the one block that the handle names. */
  readonly texts: readonly RecalledText[]
  /** Images and documents, where the handle names one. */
  readonly media: readonly Block[]
  /** The message before and the one after. */
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
  /** Absent: to the end. */
  readonly to?: string
}

export interface RecallSearch extends RecallFilter {
  readonly text: string
  readonly in: "conversation" | "project"
  readonly limit: number
}

export interface RecallFound extends RecalledText {
  /** Where in `text` the match is. */
  readonly at: number
  /** The part of `text` that matched. */
  readonly matched: { readonly from: number; readonly to: number }
  /** The texts right before and right after it. */
  readonly before?: RecalledText
  readonly after?: RecalledText
}

export interface RecallMatches {
  readonly found: readonly RecallFound[]
  /** Matches beyond those in `found`. */
  readonly more: number
  /** What was not searched, as a sentence. */
  readonly gap?: string
}

export interface RecallSource {
  named(handle: string): Promise<readonly RecalledPlace[]>
  /** Texts in the order they were written. `undefined`: one of the ends names nothing. */
  range(range: RecallRange): Promise<AsyncIterable<RecalledText> | undefined>
  search(search: RecallSearch): Promise<RecallMatches>
  /** False once the conversation is closed. */
  isOpen(): boolean
  /** Tokens of a text. */
  estimate(text: string): number
}
