/**
 * Compaction: asks the responder for the summary, signs the block that carries it, and decides which part of a conversation with such a
 * block the model still sees.
 */

import { promptText } from "@strata/core/base"
import type { ModelFacts } from "@strata/core/tokens"
import { isSpoken, isThinking, mapBlocks, type PlacedBlock, type Turn } from "../conversation.ts"
import type { Answer } from "../responder.ts"
import { digest, readSignature, sign } from "../signature.ts"

const DEFAULT_INSTRUCTIONS = promptText(new URL("./summary-prompt.md", import.meta.url)).trim()

/** The client's own instructions replace the default ones. */
export const summaryInstructions = (own: string | null | undefined) => own?.trim() || DEFAULT_INSTRUCTIONS

/** The conversation with the instructions added as its last block. */
export function askForSummary(turns: readonly Turn[], instructions: string): readonly Turn[] {
  const block = { type: "text", text: instructions }
  const placed = { block, message: -1, position: 0 }
  const last = turns.at(-1)
  if (last?.role !== "user") return [...turns, { role: "user", blocks: [placed] }]
  return [...turns.slice(0, -1), { ...last, blocks: [...last.blocks, placed] }]
}

/** The summary in an answer, without its tags. `undefined` if it has no summary. */
export function summaryIn({ content }: Answer): string | undefined {
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")
  const tagged = /<summary>([\s\S]*?)<\/summary>/.exec(text)?.[1]
  return (tagged ?? text).trim() || undefined
}

export interface CompactionSignature {
  /** Digest of the summary. */
  readonly digest: string
  /** The hash chain of the messages that the summary replaces; see `thinking/prefix-chain.ts`. */
  readonly chain: string
}

export const sealCompaction = (content: string, chain: string) => sign("compaction", { digest: digest(content), chain })

export function readCompactionSignature(sealed: string | null | undefined): CompactionSignature | undefined {
  return sealed ? (readSignature("compaction", sealed) as CompactionSignature | undefined) : undefined
}

const isSummary = ({ block }: PlacedBlock) => block.type === "compaction" && block.content != null
const isFailedSummary = ({ block }: PlacedBlock) => block.type === "compaction" && block.content == null

/** Drops everything before the last compaction block. A block without content failed and replaces nothing. */
export function afterCompaction(turns: readonly Turn[]): readonly Turn[] {
  const blocks = turns.flatMap((turn) => turn.blocks)
  const hidden = new Set(blocks.slice(0, Math.max(0, blocks.findLastIndex(isSummary))))
  return mapBlocks(turns, (placed) => (hidden.has(placed) || isFailedSummary(placed) ? undefined : placed.block))
}

/** Drops thinking from before the user's last message on older models, which ignore it. */
export function withoutForgottenThinking(turns: readonly Turn[], { accepts }: ModelFacts): readonly Turn[] {
  if (accepts.earlierThinking) return turns
  const lastSpoken = turns.findLastIndex(isSpoken)
  const forgotten = turns.slice(0, Math.max(0, lastSpoken))
  return [
    ...mapBlocks(forgotten, ({ block }) => (isThinking(block) ? undefined : block)),
    ...turns.slice(forgotten.length),
  ]
}
