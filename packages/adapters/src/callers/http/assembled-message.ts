/**
 * Puts the message together that a stream of events carries. Blocks, deltas and fields that no one knows yet are taken as they come, and
 * tool inputs keep the model's own spelling. A stream that makes no sense has no message, and harms nothing.
 */
import { MessageCollector } from "@strata/core/model"

/** Of an answer. What is longer is passed on, and not put together. */
const MOST_CHARACTERS = 64 * 1024 * 1024

export type Message = Readonly<Record<string, unknown>>

export class AssembledMessage {
  #collector: MessageCollector | undefined = new MessageCollector()
  #characters = 0

  /** Takes the data of the next event. Says whether it is the last one. */
  take(data: string): "last" | undefined {
    this.#characters += data.length
    if (this.#characters > MOST_CHARACTERS) this.giveUp()
    try {
      const event = JSON.parse(data) as Parameters<MessageCollector["take"]>[0]
      this.#collector?.take(event)
      return event.type === "message_stop" ? "last" : undefined
    } catch {
      this.giveUp() // half an answer must not be taken for a whole one
      return undefined
    }
  }

  giveUp(): void {
    this.#collector = undefined
  }

  /** `undefined` where it is not complete. */
  whole(): Message | undefined {
    return this.#collector?.response() as Message | undefined
  }

  /** `undefined` where it has not begun, or cannot be read. */
  soFar(): Message | undefined {
    return this.#collector?.soFar() as Message | undefined
  }
}
