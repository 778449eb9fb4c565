/**
 * Announces the price of the next message if the server's cache has expired: as a notice when a conversation is resumed, as a question
 * before a message after a pause. Once per pause.
 */
import type { Conversation } from "@strata/core"
import { internalsOf } from "@strata/core/conversation"
import { nextMessagePrice, priceSentence } from "../message-price.ts"
import type { Ask } from "./terminal-user.ts"

interface PriceQuestionOptions {
  /** Returns the current conversation, which changes on resume. */
  readonly chat: () => Conversation
  readonly ask: Ask
  readonly say: (text: string) => void
  readonly compact: () => Promise<void>
}

export class PriceQuestion {
  readonly #parts: PriceQuestionOptions
  /** Id of the last response before the pause whose price was announced. */
  #announced: string | undefined

  constructor(parts: PriceQuestionOptions) {
    this.#parts = parts
  }

  async say(): Promise<void> {
    const chat = this.#parts.chat()
    const last = lastAnswer(chat)
    const price = await nextMessagePrice(chat, "/compact")
    if (!price || this.#announced === last) return // a message that was typed at once has already asked
    this.#announced = last
    this.#parts.say(priceSentence(price))
  }

  /** Whether to send the message. The user may compact first, or cancel. */
  async ask(): Promise<boolean> {
    const chat = this.#parts.chat()
    const [last, before] = [lastAnswer(chat), this.#announced]
    if (last === before) return true
    this.#announced = last
    const price = await nextMessagePrice(chat, "Compact")
    if (!price) {
      this.#announced = before
      return true
    }
    const { message, compaction } = price
    const compact =
      compaction === undefined ? [] : [{ label: "Compact first, then send it", letter: "c", about: compaction }]
    const options = [{ label: "Send it", letter: "s" }, ...compact]
    const answer = await this.#parts.ask({ title: message, options })
    if (answer.type === "dismissed") return false
    if (answer.index === 0) return true
    const { count } = internalsOf(chat).views.compactions
    await this.#parts.compact()
    return internalsOf(chat).views.compactions.count > count // otherwise the compaction was cancelled
  }
}

const lastAnswer = (chat: Conversation): string | undefined => internalsOf(chat).views.context.lastResponse?.uuid
