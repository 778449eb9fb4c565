/** Measures of what the model sees: without what decisions clear, hide or drop. They add up, and the estimator turns them into tokens. */
import type { DecisionEntry } from "../../journal/entries.ts"
import { type Block, isThinking } from "../../messages/blocks.ts"
import type { Message } from "../../messages/messages.ts"
import { sentBlocks } from "../../messages/sent-blocks.ts"
import type { Estimator, Measure } from "../../tokens/estimate.ts"
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

  ofBlocks(blocks: readonly Block[]): Measure {
    const { cacheEdits, overlay } = this.#seen
    return this.#estimator.measure(blocks.map((block) => cacheEdits.see(block, overlay)))
  }

  ofMessages(messages: readonly Message[]): Measure {
    return this.ofBlocks(messages.flatMap((message) => sentBlocks(reduced(message, this.#seen.overlay))))
  }

  /** Of all thinking that is sent. */
  ofThinking(): Measure {
    const { visible, overlay } = this.#seen
    const sent = visible.filter((message) => !overlay.isWithoutThinking(message))
    return this.ofBlocks(sent.flatMap(blocksOf).filter(isThinking))
  }

  /** Of what a decision about whole messages may change: thinking that it drops, memories that it clears. */
  ofConcerned(decision: DecisionEntry): Measure {
    const uuids = new Set(clearedMemories(decision))
    const memories = uuids.size === 0 ? [] : this.#seen.visible.filter(({ uuid }) => uuids.has(uuid))
    return this.#estimator.sum([...(dropsThinking(decision) ? [this.ofThinking()] : []), this.ofMessages(memories)])
  }
}
