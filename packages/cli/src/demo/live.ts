/**
 * Redraws a picture on the terminal's second screen, so that no frame and no change of size leaves anything in the scrollback. The usual
 * screen and the cursor come back however the process ends.
 */
import { own } from "../display/output.ts"
import type { Terminal } from "../display/terminal.ts"

const HIDE_CURSOR = own("?25l")
const SHOW_CURSOR = own("?25h")
const SECOND_SCREEN = own("?1049h")
const USUAL_SCREEN = own("?1049l")
const HOME = own("H")
const CLEAR_LINE = own("K")
const CLEAR_BELOW = own("J")
/** Synchronized output: supporting terminals show each frame at once, others ignore it. */
const BEGIN_FRAME = own("?2026h")
const END_FRAME = own("?2026l")

export class LivePicture {
  readonly #terminal: Terminal
  readonly #restore: () => void
  #isOpen = false

  constructor(terminal: Terminal) {
    this.#terminal = terminal
    this.#restore = () => terminal.print(`${USUAL_SCREEN}${SHOW_CURSOR}`)
  }

  /** Draws over the previous lines. No line may be wider than the window. */
  draw(lines: readonly string[]): void {
    const shown = lines.slice(0, Math.max(1, this.#terminal.rows))
    const text = shown.map((line) => `${line}${CLEAR_LINE}`).join("\n")
    this.#terminal.print(`${BEGIN_FRAME}${this.#opened()}${HOME}${text}${CLEAR_BELOW}${END_FRAME}`)
  }

  #opened(): string {
    if (this.#isOpen) return ""
    this.#isOpen = true
    process.once("exit", this.#restore)
    return `${SECOND_SCREEN}${HIDE_CURSOR}`
  }

  /** Leaves the last picture on the usual screen. */
  end(lines: readonly string[]): void {
    if (this.#isOpen) {
      process.off("exit", this.#restore)
      this.#restore()
    }
    this.#terminal.print(`${lines.join("\n")}\n`)
  }
}
