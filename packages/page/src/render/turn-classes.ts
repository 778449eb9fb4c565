/**
 * Sizes of the context by class for some turns, recorded while their messages are in memory. For a long conversation, not all turns are
 * recorded, because a chart cannot show more.
 */
import type { Entry, Message } from "@strata/core"
import type { RecordedView } from "@strata/transcripts"
import type { ContextClass } from "@strata/transcripts/replay"
import { CompactionTexts, classesOf } from "@strata/transcripts/replay/context-classes"

export type ClassSums = Readonly<Record<ContextClass, number>>

const MAX_NOTED = 150

export class TurnClasses {
  readonly #own = new CompactionTexts()
  readonly #noted = new Map<number, ClassSums>()
  #every = 1

  /** Registers summaries and facts of compactions, which form a separate class. */
  addEntry(entry: Entry): void {
    const isOwn =
      (entry.type === "user" && entry.isCompactSummary) ||
      (entry.type === "attachment" && entry.attachment.type === "carried_facts")
    if (isOwn) this.#own.add([entry as Message])
  }

  recordTurn({ turn, messages }: RecordedView): void {
    if ((turn - 1) % this.#every !== 0) return
    this.#noted.set(turn, classesOf({ messages: messages(), prompt: 0 }, this.#own))
    if (this.#noted.size <= MAX_NOTED) return
    this.#every *= 2
    for (const each of this.#noted.keys()) if ((each - 1) % this.#every !== 0) this.#noted.delete(each)
  }

  /** Estimated sizes of a turn, without system prompt and tools. */
  sumsFor(turn: number): ClassSums | undefined {
    return this.#noted.get(turn)
  }
}
