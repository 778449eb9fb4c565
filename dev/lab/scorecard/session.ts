/** What a contestant gets: a generated conversation, and the facts in it that must be in view after a compaction. */

/** A block in the shape of the Messages API. */
export type Block = { readonly type: string } & Readonly<Record<string, unknown>>

export interface PlainMessage {
  readonly role: "user" | "assistant"
  readonly content: string | readonly Block[]
}

export interface Fact {
  readonly id: string
  readonly kind: string
  /** All of these must be in view, whatever their case. */
  readonly needs: readonly string[]
  /** Earlier values of the same thing. They may be in view only where they are marked as earlier ones. */
  readonly stale?: readonly string[]
}

export interface ScoredSession {
  readonly id: string
  readonly messages: readonly PlainMessage[]
  readonly facts: readonly Fact[]
  /** What happens after a round and before the next. Empty: the next round compacts what the last one left, and nothing else. */
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

/** All that a model reads of these messages, one block after the other. */
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
