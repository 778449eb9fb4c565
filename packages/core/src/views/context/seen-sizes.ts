/** Estimated sizes of what the model sees: without what decisions clear, hide or drop. */
import type { DecisionEntry } from "../../journal/entries.ts"
import { type Block, isThinking } from "../../messages/blocks.ts"
import type { Message } from "../../messages/messages.ts"
import { sentBlocks } from "../../messages/sent-blocks.ts"
import type { Estimator } from "../../tokens/estimate.ts"
import type { CacheEdits } from "./cache-edits.ts"
import { blocksOf } from "./changed-messages.ts"
import { clearedMemories, dropsThinking } from "./decision-kinds.ts"
import type { Overlay } from "./overlay.ts"
import { reduced } from "./reduced-message.ts"

/** The parts of a view that sizes depend on. They are read whenever a size is asked for. */
export interface Seen {
  readonly overlay: Overlay
  readonly cacheEdits: CacheEdits
  readonly visible: readonly Message[]
}

export class SeenSizes {
  readonly #estimator: Estimator
  readonly #seen: Seen

  constructor(estimator: Estimator, seen: Seen) {
    this.#estimator = estimator
    this.#seen = seen
  }

  ofBlocks(blocks: readonly Block[]): number {
    const { cacheEdits, overlay } = this.#seen
    return blocks.reduce((sum, block) => sum + this.#estimator.block(cacheEdits.see(block, overlay)), 0)
  }

  ofMessages(messages: readonly Message[]): number {
    return this.ofBlocks(messages.flatMap((message) => sentBlocks(reduced(message, this.#seen.overlay))))
  }

  /** Of all thinking that is sent. */
  ofThinking(): number {
    const { visible, overlay } = this.#seen
    const sent = visible.filter((message) => !overlay.isWithoutThinking(message))
    return this.ofBlocks(sent.flatMap(blocksOf).filter(isThinking))
  }

  /** Of what a decision about whole messages may change: thinking that it drops, memories that it clears. */
  ofConcerned(decision: DecisionEntry): number {
    const uuids = new Set(clearedMemories(decision))
    const memories = uuids.size === 0 ? [] : this.#seen.visible.filter(({ uuid }) => uuids.has(uuid))
    return (dropsThinking(decision) ? this.ofThinking() : 0) + this.ofMessages(memories)
  }
}
