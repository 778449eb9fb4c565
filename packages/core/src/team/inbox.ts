/** The messages that wait for one agent, in order. Each is handed over once; it leaves when it is in the receiver's journal. */
import type { Arrival } from "../agent/companions.ts"
import { asAttachment, type TeamMessage } from "./messages.ts"

export class Inbox {
  readonly #waiting: TeamMessage[] = []

  get size(): number {
    return this.#waiting.length
  }

  push(message: TeamMessage): void {
    this.#waiting.push(message)
  }

  arrivals(): readonly Arrival[] {
    return this.#waiting.map((message) => ({
      attachment: asAttachment(message),
      journaled: () => {
        const at = this.#waiting.indexOf(message)
        if (at >= 0) this.#waiting.splice(at, 1)
      },
    }))
  }
}
