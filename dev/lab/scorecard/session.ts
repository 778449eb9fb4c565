/** Input of a contestant: a generated conversation, and its facts that must be in view after a compaction. */

/** A block in the shape of the Messages API. */
export type Block = { readonly type: string } & Readonly<Record<string, unknown>>

export interface PlainMessage {
  readonly role: "user" | "assistant"
  readonly content: string | readonly Block[]
}

export interface Fact {
  readonly id: string
  readonly kind: string
  /** Texts that must all be in view, ignoring case. */
  readonly needs: readonly string[]
  /** Earlier values of the same fact. They may be in view only if marked as earlier. */
  readonly stale?: readonly string[]
}

export interface ScoredSession {
  readonly id: string
  readonly messages: readonly PlainMessage[]
  readonly facts: readonly Fact[]
  /** Messages between a round and the next one. Empty if the next round only compacts the result of the previous one. */
  readonly between: (round: number) => readonly PlainMessage[]
}

export interface Corpus {
  readonly name: string
  readonly about: string
  readonly sessions: (options: { readonly isQuick: boolean }) => readonly ScoredSession[]
}

export const user = (content: PlainMessage["content"]): PlainMessage => ({ role: "user", content })
export const assistant = (content: PlainMessage["content"]): PlainMessage => ({ role: "assistant", content })
export const nothing = (): readonly PlainMessage[] => []

/** All text of these messages that a model reads, one block after the other. */
export const textOf = (messages: readonly PlainMessage[]): string =>
  messages.flatMap(({ content }) => (typeof content === "string" ? [content] : content.map(blockText))).join("\n")

function blockText(block: Block): string {
  if (typeof block.text === "string") return block.text
  if (typeof block.thinking === "string") return block.thinking
  if (block.type === "tool_use") return `${block.name} ${JSON.stringify(block.input)}`
  if (block.type === "tool_result") return contentText(block.content)
  if (block.type === "image") return String(Object(block.source).data)
  return JSON.stringify(block)
}

const contentText = (content: unknown): string =>
  typeof content === "string" ? content : Array.isArray(content) ? content.map(blockText).join("\n") : ""
