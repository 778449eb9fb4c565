/**
 * Data that providers need back: signatures of reasoning, ids of items, thought signatures on tool calls (Gemini refuses the next request
 * without them). The Messages API has one place for such data: the signature of a thinking block.
 *
 * - Claude's signatures stay unchanged, so that the conversation can continue with `anthropicModel`.
 * - Notes of other providers on reasoning are encoded in the signature.
 * - Notes on a text or a call go into an empty thinking block directly before it.
 */
import type { Block } from "../../messages/blocks.ts"
import type { ProviderOptions } from "./interface.ts"

const PREFIX = "ai-sdk:"
const ANTHROPIC = "anthropic"

type Thinking = Extract<Block, { type: "thinking" | "redacted_thinking" }>

/** Converts reasoning to a block. `undefined` if it is empty. */
export function toThinking(text: string, notes: ProviderOptions | undefined): Thinking | undefined {
  const { signature, redactedData } = notes?.[ANTHROPIC] ?? {}
  if (typeof redactedData === "string") return { type: "redacted_thinking", data: redactedData }
  if (typeof signature === "string") return { type: "thinking", thinking: text, signature }
  return text === "" && !hasNotes(notes) ? undefined : reasoningWithNotes(text, notes)
}

/** A thinking block with the notes encoded in its signature, even if both are empty. */
export const reasoningWithNotes = (text: string, notes: ProviderOptions = {}): Thinking => ({
  type: "thinking",
  thinking: text,
  signature: encode({ notes }),
})

/** The block that carries notes on the block after it. Claude does not need its own notes on texts and calls back. */
export function toCarrier(notes: ProviderOptions | undefined): readonly Thinking[] {
  const { [ANTHROPIC]: _, ...others } = notes ?? {}
  return hasNotes(others)
    ? [{ type: "thinking", thinking: "", signature: encode({ notes: others, forNext: true }) }]
    : []
}

export type ThinkingMeaning =
  | { readonly kind: "reasoning"; readonly text: string; readonly notes: ProviderOptions }
  | { readonly kind: "carrier"; readonly notes: ProviderOptions }

/** Decodes a thinking block for the provider. */
export function readThinking(block: Thinking): ThinkingMeaning {
  if (block.type === "redacted_thinking") {
    return { kind: "reasoning", text: "", notes: { [ANTHROPIC]: { redactedData: block.data } } }
  }
  const { thinking: text, signature } = block
  if (!signature.startsWith(PREFIX)) return { kind: "reasoning", text, notes: { [ANTHROPIC]: { signature } } }
  const { notes, forNext } = decode(signature)
  return forNext ? { kind: "carrier", notes } : { kind: "reasoning", text, notes }
}

interface EncodedNotes {
  readonly notes: ProviderOptions
  readonly forNext?: boolean
}

const hasNotes = (notes: ProviderOptions | undefined) => Object.keys(notes ?? {}).length > 0

const encode = (written: EncodedNotes) => PREFIX + Buffer.from(JSON.stringify(written)).toString("base64url")

const decode = (signature: string) =>
  JSON.parse(Buffer.from(signature.slice(PREFIX.length), "base64url").toString()) as EncodedNotes
