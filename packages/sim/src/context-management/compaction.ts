/**
 * Compaction: the summary the brain is asked for, the seal on the block that carries it, and what the model still sees
 * of a conversation that contains such a block.
 */
import type { ModelFacts } from "@strata/core"
import { promptText } from "@strata/core/parts"
import type { Answer } from "../brain.ts"
import { isSpoken, isThinking, mapBlocks, type PlacedBlock, type Turn } from "../conversation.ts"
import { digest, seal, unseal } from "../seal.ts"

const DEFAULT_INSTRUCTIONS = promptText(new URL("./summary-prompt.md", import.meta.url)).trim()

/** Own instructions take the place of the default ones. */
export const summaryInstructions = (own: string | null | undefined) => own?.trim() || DEFAULT_INSTRUCTIONS

/** The conversation with the request for a summary at its end, as its last block. */
export function askForSummary(turns: readonly Turn[], instructions: string): readonly Turn[] {
  const block = { type: "text", text: instructions }
  const placed = { block, message: -1, position: 0 }
  const last = turns.at(-1)
  if (last?.role !== "user") return [...turns, { role: "user", blocks: [placed] }]
  return [...turns.slice(0, -1), { ...last, blocks: [...last.blocks, placed] }]
}

/** The summary in an answer, without its tags; `undefined` where there is none. */
export function summaryIn({ content }: Answer): string | undefined {
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")
  const tagged = /<summary>([\s\S]*?)<\/summary>/.exec(text)?.[1]
  return (tagged ?? text).trim() || undefined
}

export interface CompactionSeal {
  /** Of the summary. */
  readonly digest: string
  /** The chain of the messages the summary replaces; see `thinking/prefix-chain.ts`. */
  readonly chain: string
}

export const sealCompaction = (content: string, chain: string) => seal("compaction", { digest: digest(content), chain })

export function readCompactionSeal(sealed: string | null | undefined): CompactionSeal | undefined {
  return sealed ? (unseal("compaction", sealed) as CompactionSeal | undefined) : undefined
}

const isSummary = ({ block }: PlacedBlock) => block.type === "compaction" && block.content != null
const isFailedSummary = ({ block }: PlacedBlock) => block.type === "compaction" && block.content == null

/** Everything before the last compaction block is ignored; a block without content (it failed) stands for nothing. */
export function afterCompaction(turns: readonly Turn[]): readonly Turn[] {
  const blocks = turns.flatMap((turn) => turn.blocks)
  const hidden = new Set(blocks.slice(0, Math.max(0, blocks.findLastIndex(isSummary))))
  return mapBlocks(turns, (placed) => (hidden.has(placed) || isFailedSummary(placed) ? undefined : placed.block))
}

/** Older models get no thinking from before the last time the user spoke. */
export function withoutForgottenThinking(turns: readonly Turn[], { accepts }: ModelFacts): readonly Turn[] {
  if (accepts.earlierThinking) return turns
  const lastSpoken = turns.findLastIndex(isSpoken)
  const forgotten = turns.slice(0, Math.max(0, lastSpoken))
  return [
    ...mapBlocks(forgotten, ({ block }) => (isThinking(block) ? undefined : block)),
    ...turns.slice(forgotten.length),
  ]
}
