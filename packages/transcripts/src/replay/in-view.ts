/** Tracks the names and blocks in view. Updating costs only the difference to the previous request. */
import type { Block } from "@strata/core"
import { measuredNamesIn } from "../inspect/block-text.ts"

export class InView {
  #blocks: readonly Block[] = []
  readonly #present = new Set<Block>()
  readonly #names = new Map<string, number>()
  readonly #namesIn: (block: Block) => ReadonlySet<string>

  constructor(names: (block: Block) => ReadonlySet<string> = measuredNamesIn) {
    this.#namesIn = names
  }

  /** Sets the blocks of the next request. */
  update(blocks: readonly Block[]): void {
    const max = Math.min(blocks.length, this.#blocks.length)
    let same = 0
    while (same < max && blocks[same] === this.#blocks[same]) same++
    for (const block of this.#blocks.slice(same)) this.#remove(block)
    for (const block of blocks.slice(same)) this.#add(block)
    this.#blocks = blocks
  }

  hasName(name: string): boolean {
    return this.#names.has(name)
  }

  hasBlock(block: Block): boolean {
    return this.#present.has(block)
  }

  #add(block: Block): void {
    this.#present.add(block)
    for (const name of this.#namesIn(block)) this.#names.set(name, (this.#names.get(name) ?? 0) + 1)
  }

  #remove(block: Block): void {
    this.#present.delete(block)
    for (const name of this.#namesIn(block)) {
      const left = this.#names.get(name)! - 1
      if (left === 0) this.#names.delete(name)
      else this.#names.set(name, left)
    }
  }
}
