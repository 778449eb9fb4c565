/**
 * Input that was queued while the model was at work. Claude Code notes when something is put into the queue and when it is
 * taken out: `dequeue` begins a turn with it, `popAll` gives it back to the person, `remove` slips it into the running turn.
 * Some versions keep no other record of what was slipped in, so these notes are the only place where the words stand.
 */
import { type Fields, textAt } from "./foreign-json.ts"

export class InputQueue {
  #waiting: string[] = []
  #slippedIn: string[] = []
  readonly #recorded: string[] = []

  operation(line: Fields): void {
    const content = textAt(line, "content")
    switch (textAt(line, "operation")) {
      case "enqueue":
        if (content !== undefined) this.#waiting.push(content)
        break
      case "dequeue":
        this.#waiting.shift()
        break
      case "popAll":
        this.#waiting = []
        break
      case "remove": {
        const [input] = this.#waiting.splice(0, 1)
        if (input !== undefined && !takeOut(this.#recorded, input)) this.#slippedIn.push(input)
      }
    }
  }

  /** The transcript has a message of its own for this input, before or after the note that it was taken out. */
  recorded(input: string): void {
    if (!takeOut(this.#slippedIn, input) && this.#waiting.includes(input)) this.#recorded.push(input)
  }

  /** What was slipped in since the last time and has no message of its own. */
  takeSlippedIn(): readonly string[] {
    return this.#slippedIn.splice(0)
  }
}

function takeOut(list: string[], item: string): boolean {
  const at = list.indexOf(item)
  if (at >= 0) list.splice(at, 1)
  return at >= 0
}
