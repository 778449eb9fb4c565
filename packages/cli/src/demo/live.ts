/** Redraws a picture in place. The cursor comes back however the process ends. */
import { own } from "../display/output.ts"
import type { Terminal } from "../display/terminal.ts"

const HIDE_CURSOR = own("?25l")
const SHOW_CURSOR = own("?25h")
const LINE_START = own("1G")
const CLEAR_LINE = own("K")
const CLEAR_BELOW = own("J")
/** Synchronized output: supporting terminals show each frame at once, others ignore it. */
const BEGIN_FRAME = own("?2026h")
const END_FRAME = own("?2026l")

export class LivePicture {
  readonly #terminal: Terminal
  readonly #restore: () => void
  #drawn = 0

  constructor(terminal: Terminal) {
    this.#terminal = terminal
    this.#restore = () => terminal.print(SHOW_CURSOR)
    terminal.print(HIDE_CURSOR)
    process.once("exit", this.#restore)
  }

  /** Draws over the previous lines. No line may be wider than the window. */
  draw(lines: readonly string[]): void {
    const shown = lines.slice(0, Math.max(1, this.#terminal.rows - 1)) // the last row would scroll
    const up = this.#drawn === 0 ? "" : own(`${this.#drawn}A`)
    const text = shown.map((line) => `${line}${CLEAR_LINE}\n`).join("")
    this.#terminal.print(`${BEGIN_FRAME}${LINE_START}${up}${text}${CLEAR_BELOW}${END_FRAME}`)
    this.#drawn = shown.length
  }

  /** Keeps the last picture and shows the cursor again. */
  end(): void {
    process.off("exit", this.#restore)
    this.#restore()
  }
}
