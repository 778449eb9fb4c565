/**
 * Converts messages to their form on the server, with the size of each block. Completed messages stay the same object, so each is measured
 * once.
 */
import type { FlatMessage } from "@strata/core/messages"
import type { BlockSizes } from "./block-sizes.ts"
import type { PromptItem } from "./cache-model.ts"
import type { SentMessage } from "./server-context.ts"

export class SentMessages {
  readonly #sizes: BlockSizes
  readonly #known = new WeakMap<FlatMessage, SentMessage>()

  constructor(sizes: BlockSizes) {
    this.#sizes = sizes
  }

  of(message: FlatMessage): SentMessage {
    const known = this.#known.get(message)
    if (known) return known
    const items = message.content.map((block): PromptItem => ({ block, tokens: this.#sizes.of(block) }))
    const sent = { role: message.role, items }
    this.#known.set(message, sent)
    return sent
  }
}
