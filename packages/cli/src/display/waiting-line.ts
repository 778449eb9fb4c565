/**
 * A line on standard error while a command waits for the store. On a screen it is removed when the store answers or other output follows.
 * In a pipe a second line reports that the store answers.
 */
import { type ShowWaiting, WAITING } from "../store-waiting.ts"
import { terminalSequence } from "./output.ts"
import type { Terminal } from "./terminal.ts"
import { truncate } from "./text.ts"

const STORE_ANSWERS = "The database answers again."
const CLEARED = `${terminalSequence("1G")}${terminalSequence("K")}`

export interface WaitingLine {
  /** A terminal whose output does not break the line. */
  readonly terminal: Terminal
  readonly show: ShowWaiting
}

export function waitingLine(terminal: Terminal): WaitingLine {
  const { canRewrite = false, isScreen, style } = terminal
  let [isWaiting, isDrawn, isLineOpen] = [false, false, false]
  const draw = () => {
    terminal.complain(`${terminalSequence("1G")}${truncate(WAITING, terminal.columns - 1)}${terminalSequence("K")}`)
    isDrawn = true
  }
  const clear = () => {
    if (isDrawn) terminal.complain(CLEARED)
    isDrawn = false
  }
  const around = (write: (text: string) => void) => (text: string) => {
    clear()
    write(text)
    if (text !== "") isLineOpen = !text.endsWith("\n") && text !== CLEARED
    if (canRewrite && isWaiting && !isLineOpen) draw()
  }
  return {
    terminal: {
      print: around((text) => terminal.print(text)),
      complain: around((text) => terminal.complain(text)),
      get columns() {
        return terminal.columns
      },
      get rows() {
        return terminal.rows
      },
      ...{ canRewrite, isScreen, style },
    },
    show(isSo) {
      isWaiting = isSo
      if (!canRewrite) return terminal.complain(`${isSo ? WAITING : STORE_ANSWERS}\n`)
      if (!isSo) return clear()
      if (isLineOpen) terminal.complain("\n")
      isLineOpen = false
      draw()
    },
  }
}
