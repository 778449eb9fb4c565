/**
 * What providers need back: signatures of reasoning, ids of items, thought signatures on tool calls (Gemini refuses the next request without
 * them). Our messages follow the Messages API, which has one place for such data: the signature of a thinking block.
 *
 * - Claude's signatures are kept as they are, so that the conversation can continue with `anthropicModel`.
 * - Other notes on reasoning are written into the signature.
 * - Notes on a text or a call go into an empty thinking block directly before it.
 */
import type { Block } from "../../messages/blocks.ts"
import type { ProviderOptions } from "./interface.ts"

const PREFIX = "ai-sdk:"
const ANTHROPIC = "anthropic"

type Thinking = Extract<Block, { type: "thinking" | "redacted_thinking" }>

/** Reasoning as a block; `undefined` where it is empty. */
export function toThinking(text: string, notes: ProviderOptions | undefined): Thinking | undefined {
  const { signature, redactedData } = notes?.[ANTHROPIC] ?? {}
  if (typeof redactedData === "string") return { type: "redacted_thinking", data: redactedData }
  if (typeof signature === "string") return { type: "thinking", thinking: text, signature }
  return text === "" && !hasNotes(notes) ? undefined : reasoningWithNotes(text, notes)
}

/** Reasoning with its notes in the signature, also where there is neither. */
export const reasoningWithNotes = (text: string, notes: ProviderOptions = {}): Thinking => ({
  type: "thinking",
  thinking: text,
  signature: encode({ notes }),
})

/** The block that carries notes on the one after it. Claude does not need its own notes on texts and calls back. */
export function toCarrier(notes: ProviderOptions | undefined): readonly Thinking[] {
  const { [ANTHROPIC]: _, ...others } = notes ?? {}
  return hasNotes(others)
    ? [{ type: "thinking", thinking: "", signature: encode({ notes: others, forNext: true }) }]
    : []
}

export type ThinkingMeaning =
  | { readonly kind: "reasoning"; readonly text: string; readonly notes: ProviderOptions }
  | { readonly kind: "carrier"; readonly notes: ProviderOptions }

/** What a thinking block means on the way back to a provider. */
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
