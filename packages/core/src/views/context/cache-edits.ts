/**
 * Deletions inside the server's cache. The results stay in the messages; a block after them asks the server to delete its copy.
 * Each block keeps its place in every later request. No public model offers this.
 */

import type { DecisionEntry } from "../../journal/entries.ts"
import { type Block, isToolResult } from "../../messages/blocks.ts"
import type { Flattener } from "../../messages/flatten.ts"
import type { Uuid } from "../../messages/messages.ts"
import { editsCache } from "./decision-kinds.ts"
import type { Overlay } from "./overlay.ts"
import { renderCacheEdits, renderCleared } from "./render-decisions.ts"

export interface CacheEditState {
  /** Results that are deleted inside the cache. */
  readonly toolUseIds: readonly string[]
  /** Whether a response has come since the first of these deletions. */
  readonly answered: boolean
  /** Whether earlier deletions were given up and no response has come since. */
  readonly justDropped: boolean
}

interface CacheEdit {
  readonly toolUseIds: readonly string[]
  /** How many messages there were when it was decided. */
  readonly place: number
}

const NEVER = -1

export class CacheEdits {
  readonly #isSupported: boolean
  /** The deletions in force, by the decision that made them. */
  readonly #edits = new Map<Uuid, CacheEdit>()
  #deleted: ReadonlySet<string> = new Set()
  /** Deletions whose place has passed and that wait for a message of the user's side. */
  #waiting: Uuid[] = []
  /** How many messages there were when deletions were last given up. */
  #droppedAt = NEVER

  /** A model that cannot edit its cache gets results whole that another model had deleted. */
  constructor(isSupported: boolean) {
    this.#isSupported = isSupported
  }

  /** The results whose deletion is asked for, whether this model can do it or not. */
  get deleted(): ReadonlySet<string> {
    return this.#deleted
  }

  /** Whether the model no longer sees a result that is sent whole. */
  hides(toolUseId: string): boolean {
    return this.#isSupported && this.#deleted.has(toolUseId)
  }

  /** The block as the model sees it: without what the server has deleted from its copy. */
  see(block: Block, overlay: Overlay): Block {
    if (!isToolResult(block) || !this.hides(block.tool_use_id)) return overlay.show(block)
    const address = overlay.addressOf(block)
    return address === undefined ? overlay.show(block) : renderCleared(block, address)
  }

  /** `settled`: how many messages there are up to the end of the newest response. */
  state(settled: number): CacheEditState {
    const edits = [...this.#edits.values()]
    return {
      toolUseIds: edits.flatMap(({ toolUseIds }) => toolUseIds),
      answered: edits.some(({ place }) => place < settled),
      justDropped: this.#droppedAt >= settled,
    }
  }

  /** `place`: how many messages there are. */
  decide(decision: DecisionEntry, place: number): void {
    if (decision.subtype === "cache-edits-dropped") {
      this.#drop()
      this.#droppedAt = place
    } else if (editsCache(decision)) {
      this.#edits.set(decision.uuid, { toolUseIds: decision.toolUseIds, place })
      this.#deleted = new Set([...this.#deleted, ...decision.toolUseIds])
      this.#waiting.push(decision.uuid)
    }
  }

  /** Adds the blocks that belong after so many messages, when all messages are fed again. */
  feed(flattener: Flattener, fed: number, isSent: (toolUseId: string) => boolean): void {
    for (const [decision, { place }] of this.#edits) if (place === fed) this.#waiting.push(decision)
    this.flush(flattener, isSent)
  }

  /** Only the user's side may carry such a block, so one that follows a response waits for the user's next message. */
  flush(flattener: Flattener, isSent: (toolUseId: string) => boolean): void {
    if (!this.#isSupported || this.#waiting.length === 0 || !flattener.endsWithUser) return
    for (const decision of this.#waiting.splice(0)) {
      const toolUseIds = this.#edits.get(decision)!.toolUseIds.filter(isSent)
      if (toolUseIds.length > 0) flattener.add(renderCacheEdits(decision, toolUseIds))
    }
  }

  /** Call it before all messages are fed again. */
  startFeeding(): void {
    this.#waiting = []
  }

  /** Forgets everything. The decisions that still hold are made again, or a boundary has ended them. */
  clear(): void {
    this.#drop()
    this.#droppedAt = NEVER
  }

  #drop(): void {
    this.#edits.clear()
    this.#deleted = new Set()
    this.#waiting = []
  }
}
