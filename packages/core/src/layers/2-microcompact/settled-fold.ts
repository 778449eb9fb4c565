/**
 * A fold over the messages of a view that reads each message once. It keeps its state up to the newest response and reads only what is
 * new, until a decision or a boundary changes earlier messages. So a look before every request costs what is new.
 */
import type { Message } from "../../messages/messages.ts"
import type { ContextView } from "../../views/context/context.ts"

export interface MessageFold<S> {
  start(): S
  /** Takes a message into the state, in place. */
  take(state: S, message: Message): void
  copy(state: S): S
}

export class SettledFold<S> {
  readonly #fold: MessageFold<S>
  #state: S
  #taken = 0
  #revision: number | undefined

  constructor(fold: MessageFold<S>) {
    this.#fold = fold
    this.#state = fold.start()
  }

  /** The state after all messages of the view. It is the caller's own. */
  over(context: ContextView): S {
    const { count, revision } = context.settled
    if (revision !== this.#revision || count < this.#taken) {
      this.#state = this.#fold.start()
      this.#taken = 0
      this.#revision = revision
    }
    const fresh = context.storedFrom(this.#taken)
    const settled = count - this.#taken
    for (const message of fresh.slice(0, settled)) this.#fold.take(this.#state, message)
    this.#taken = count
    const state = this.#fold.copy(this.#state)
    for (const message of fresh.slice(settled)) this.#fold.take(state, message)
    return state
  }
}
