/**
 * A fold over the messages of a view that reads each message once. It keeps its state up to the newest response and reads only what is
 * new, until a decision or a boundary changes earlier messages. So a look before every request costs what is new.
 */
import type { Message } from "../messages/messages.ts"
import type { ContextView } from "../views/context/context.ts"

export interface MessageFold<S> {
  start(): S
  /** Takes a message into the state, in place. */
  take(state: S, message: Message): void
  /** Returns a function that brings the state back to what it is now, in place. */
  mark(state: S): () => void
}

export class SettledFold<S> {
  readonly #fold: MessageFold<S>
  #state: S
  /** Takes what follows the newest response out of the state. */
  #forgetNewest: () => void = () => undefined
  #taken = 0
  #revision: symbol | undefined

  constructor(fold: MessageFold<S>) {
    this.#fold = fold
    this.#state = fold.start()
  }

  /** The state after all messages of the view. It holds until the next call. */
  over(context: ContextView): S {
    const { count, revision } = context.settled
    this.#forgetNewest()
    if (revision !== this.#revision || count < this.#taken) {
      this.#state = this.#fold.start()
      this.#taken = 0
      this.#revision = revision
    }
    const fresh = context.storedFrom(this.#taken)
    const settled = count - this.#taken
    for (const message of fresh.slice(0, settled)) this.#fold.take(this.#state, message)
    this.#taken = count
    this.#forgetNewest = this.#fold.mark(this.#state)
    for (const message of fresh.slice(settled)) this.#fold.take(this.#state, message)
    return this.#state
  }
}
