/**
 * Which results the server has left whole in its own copy of the conversation. Every later request asks it to leave the same results
 * and all newer ones, so it clears once and its cache breaks once.
 */

import type { DecisionEntry } from "../../journal/entries.ts"
import { isToolUse, isWellFormedCall, toBlocks } from "../../messages/blocks.ts"
import type { Message } from "../../messages/messages.ts"
import { clearsResults } from "./decision-kinds.ts"

export class ServerKept {
  /** The calls that are sent, since the last boundary, in order. */
  #calls: string[] = []
  readonly #places = new Map<string, number>()
  #from: string | undefined
  /** How many there were before the newest response. */
  #earlier = 0
  /** The server may have cleared the results of so many of the first calls. */
  #cleared = 0
  /** Whether it cleared anything for the newest response. */
  #isInForce = false

  add(message: Message): void {
    if (message.type !== "assistant") return
    this.#earlier = this.#calls.length
    if (message.message.usage) this.#isInForce = false // without usage it is not a whole response, and says nothing
    for (const call of toBlocks(message.message.content).filter(isToolUse)) {
      const { id } = call
      if (!isWellFormedCall(call) || this.#places.has(id)) continue // not sent, so the server does not count it
      this.#places.set(id, this.#calls.length)
      this.#calls.push(id)
    }
  }

  decide(decision: DecisionEntry): void {
    if (decision.subtype !== "server-edited") return
    if (decision.keptFrom !== undefined) this.#from = decision.keptFrom
    if (decision.keptFrom === undefined && !decision.edits.some(clearsResults)) return
    // if it is not recorded which ones it left, it may have cleared all of them
    this.#cleared = this.#places.get(decision.keptFrom ?? "") ?? this.#earlier
    this.#isInForce = true
  }

  /** Whether the server may have cleared the result of a call from its copy. */
  mayHaveCleared(toolUseId: string): boolean {
    const place = this.#places.get(toolUseId)
    return place !== undefined && place < this.#cleared
  }

  /** How many of the newest calls it left. `undefined` as long as the server has cleared nothing. */
  get count(): number | undefined {
    const first = this.#from === undefined ? undefined : this.#places.get(this.#from)
    return first === undefined ? undefined : this.#calls.length - first
  }

  /** How many of the newest calls are whole in its cache, as the newest response left it. */
  get inCache(): number {
    return (this.#isInForce ? this.count : undefined) ?? this.#calls.length
  }

  /** The calls it left that are not among so many newest ones. It could clear these next. */
  allBut(newest: number): readonly string[] {
    const { count = 0 } = this
    return this.#calls.slice(this.#calls.length - count, Math.max(0, this.#calls.length - newest))
  }

  /** The first of so many newest calls. */
  firstOf(newest: number): string | undefined {
    return this.#calls[this.#calls.length - newest]
  }

  forget(): void {
    this.#calls = []
    this.#places.clear()
    this.#from = undefined
    this.#earlier = 0
    this.#cleared = 0
    this.#isInForce = false
  }
}
