/**
 * Reconstructs input typed while the model was working. Claude Code records when input enters its queue and when it leaves: `dequeue`
 * begins a turn with it, `popAll` returns it to the user, `remove` inserts it into the running turn. Some versions record inserted input
 * nowhere else, so these lines are its only source.
 */
import { getString, type JsonObject } from "../json-access.ts"

/** Task notifications, which stay in the queue while later input is inserted. */
const NOTICE = /^\s*(?:<(?:agent|task)-notification>|\{"task_id":")/

export class InputQueue {
  #waiting: string[] = []
  #inserted: string[] = []
  readonly #recorded: string[] = []

  operation(line: JsonObject): void {
    const content = getString(line, "content")
    switch (getString(line, "operation")) {
      case "enqueue":
        if (content !== undefined) this.#waiting.push(content)
        break
      case "dequeue":
        this.#take(content)
        break
      case "popAll":
        this.#waiting = []
        break
      case "remove": {
        const input = this.#take(content ?? this.#waiting.find((waiting) => !NOTICE.test(waiting)))
        if (input !== undefined && !takeOut(this.#recorded, input)) this.#inserted.push(input)
      }
    }
  }

  /** Removes and returns the named input, else the oldest. */
  #take(content: string | undefined): string | undefined {
    const at = content === undefined ? 0 : Math.max(0, this.#waiting.indexOf(content))
    return this.#waiting.splice(at, 1)[0]
  }

  /** Notes that the transcript has a separate message for this input, before or after the line that removes it from the queue. */
  recorded(input: string): void {
    if (!takeOut(this.#inserted, input) && this.#waiting.includes(input)) this.#recorded.push(input)
  }

  /** Input inserted since the last call that has no separate message. */
  takeInserted(): readonly string[] {
    return this.#inserted.splice(0)
  }
}

function takeOut(list: string[], item: string): boolean {
  const at = list.indexOf(item)
  if (at >= 0) list.splice(at, 1)
  return at >= 0
}
