/**
 * One line that shows how far long work is, on standard error. On a screen the line is rewritten and goes when the work ends. In a pipe, or
 * where the terminal cannot redraw, a line is written every few seconds.
 */
import { formatNumber } from "./numbers.ts"
import { own } from "./output.ts"
import type { Terminal } from "./terminal.ts"
import { fitted } from "./text.ts"
import { escapeToLine } from "./visible.ts"

const REDRAWN_EVERY_MS = 100
const TICK_MS = 1_000
const WRITTEN_EVERY_MS = 10_000 // in a pipe: work that is shorter writes nothing
/** Work that only waits is shown after this. */
const PATIENCE_MS = 400

export interface Progress {
  /** What is done now. `at`: how much of it is finished. */
  show(what: string, at?: Steps): void
  /** Takes the line away, so that other output can follow. The next `show` brings it back. */
  clear(): void
  /** Must be called, also after a failure. */
  end(): void
}

export interface Steps {
  readonly done: number
  readonly of: number
}

export type ProgressTerminal = Pick<Terminal, "complain"> & Partial<Pick<Terminal, "columns" | "canRewrite">>

const USUAL_COLUMNS = 80

export function progressOn(terminal: ProgressTerminal, now: () => number = () => performance.now()): Progress {
  const { complain, canRewrite = false } = terminal
  const started = now()
  let words = ""
  let isShown = false
  let drawnAt = canRewrite ? Number.NEGATIVE_INFINITY : started
  const draw = () => {
    const at = now()
    if (words === "" || at - drawnAt < (canRewrite ? REDRAWN_EVERY_MS : WRITTEN_EVERY_MS)) return
    drawnAt = at
    const seconds = at - started >= TICK_MS ? `, ${formatNumber(Math.floor((at - started) / 1_000))} s` : ""
    const line = escapeToLine(`${words}${seconds}`)
    if (canRewrite) complain(`${own("1G")}${fitted(line, (terminal.columns ?? USUAL_COLUMNS) - 1)}${own("K")}`)
    else complain(`${line}\n`)
    isShown = canRewrite
  }
  const clear = () => {
    if (isShown) complain(`${own("1G")}${own("K")}`)
    isShown = false
    if (canRewrite) drawnAt = Number.NEGATIVE_INFINITY
  }
  const timer = setInterval(draw, TICK_MS)
  timer.unref()
  return {
    show(what, at) {
      words = at ? `${what}: ${formatNumber(at.done)} of ${formatNumber(at.of)}` : what
      draw()
    },
    clear,
    end() {
      clearInterval(timer)
      words = ""
      clear()
    },
  }
}

/** Shows a line while work runs that says nothing about how far it is. Short work shows none. */
export async function during<T>(terminal: ProgressTerminal, what: string, work: () => Promise<T>): Promise<T> {
  const progress = progressOn(terminal)
  const timer = setTimeout(() => progress.show(what), PATIENCE_MS)
  timer.unref()
  try {
    return await work()
  } finally {
    clearTimeout(timer)
    progress.end()
  }
}
