/**
 * The flattened messages as decisions let them be shown. A closed message is rendered once, and again only when a decision touches it.
 */

import type { Block } from "../../messages/blocks.ts"
import type { FlatMessage, Flattener } from "../../messages/flatten.ts"

export interface ContextMessages {
  readonly messages: readonly FlatMessage[]
  /** How many of them, from the first, stay as they are until a decision changes one. */
  readonly closed: number
  /** Changes whenever a decision has changed one of those. No two views have the same. */
  readonly revision: symbol
}

export class ShownMessages {
  readonly #show: (block: Block) => Block
  /** Closed messages that someone has asked for, as they are shown. */
  #closed: FlatMessage[] = []
  /** In which closed message a block is. */
  readonly #closedAt = new WeakMap<Block, number>()
  #revision = Symbol()

  constructor(show: (block: Block) => Block) {
    this.#show = show
  }

  /** `first`: what comes before them all. */
  of(flattener: Flattener, first: readonly FlatMessage[] = []): ContextMessages {
    this.#takeClosed(flattener.closed)
    const open = this.all(flattener.open().messages)
    const closed = first.length + this.#closed.length
    // one copy of memory: spread, each message would be taken in turn
    return { messages: first.concat(this.#closed, open), closed, revision: this.#revision }
  }

  all(messages: readonly FlatMessage[]): FlatMessage[] {
    return messages.map((message) => this.#shown(message))
  }

  /** Renders the closed messages with these blocks again. */
  update(blocks: readonly Block[], { closed }: Flattener): void {
    for (const block of blocks) {
      const at = this.#closedAt.get(block)
      if (at === undefined || at >= this.#closed.length) continue
      this.#closed[at] = this.#shown(closed[at]!)
      this.#revision = Symbol()
    }
  }

  /** The messages are flattened again from the first. */
  clear(): void {
    this.#closed = []
    this.#revision = Symbol()
  }

  #takeClosed(closed: readonly FlatMessage[]): void {
    for (let at = this.#closed.length; at < closed.length; at++) {
      for (const block of closed[at]!.content) this.#closedAt.set(block, at)
      this.#closed.push(this.#shown(closed[at]!))
    }
  }

  #shown(message: FlatMessage): FlatMessage {
    const content = message.content.map((block) => this.#show(block))
    return content.every((block, i) => block === message.content[i]) ? message : { ...message, content }
  }
}
