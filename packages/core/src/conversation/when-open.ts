/**
 * The one circle of an opening: a conversation is opened with a model, tools and layers, and these work on that conversation. They are made
 * with this in its place, and ask it once there is work.
 */

import type { Layer } from "../layers/layer.ts"
import type { Conversation } from "./conversation.ts"

interface Open {
  readonly conversation: Conversation
  readonly layers: readonly Layer[]
}

export class WhenOpen {
  #open: Open | undefined

  /** Called once. */
  begin(open: Open): void {
    this.#open = open
  }

  get conversation(): Conversation {
    return this.#begun.conversation
  }

  get layers(): readonly Layer[] {
    return this.#begun.layers
  }

  get #begun(): Open {
    if (!this.#open) throw new Error("The conversation is still opening. Try again later.")
    return this.#open
  }
}
