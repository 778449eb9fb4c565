/**
 * A line on standard error while the store keeps the command waiting. On a screen it goes when the store answers, or other output follows. In
 * a pipe a second line says that it answers.
 */
import { type ShowWaiting, WAITING } from "../store-waiting.ts"
import { own } from "./output.ts"
import type { Terminal } from "./terminal.ts"
import { fitted } from "./text.ts"

const OVER = "The database answers again."
const CLEARED = `${own("1G")}${own("K")}`

export interface WaitingLine {
  /** Output through it leaves the line whole. */
  readonly terminal: Terminal
  readonly show: ShowWaiting
}

export function waitingLine(terminal: Terminal): WaitingLine {
  const { canRewrite = false, isScreen, style } = terminal
  let [isWaiting, isDrawn, isLineOpen] = [false, false, false]
  const draw = () => {
    terminal.complain(`${own("1G")}${fitted(WAITING, terminal.columns - 1)}${own("K")}`)
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
      if (!canRewrite) return terminal.complain(`${isSo ? WAITING : OVER}\n`)
      if (!isSo) return clear()
      if (isLineOpen) terminal.complain("\n")
      isLineOpen = false
      draw()
    },
  }
}
