/** What is left of a conversation before any edit: compaction blocks replace what they summarized, old models forget thinking. */
import type { ModelFacts } from "@strata/core"
import { isSpoken, isThinking, mapBlocks, type PlacedBlock, type Turn } from "../conversation.ts"

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
