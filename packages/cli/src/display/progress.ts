/**
 * A progress line for long work, on standard error. On a screen the line is rewritten, and removed when the work ends. Otherwise a line is
 * written every few seconds.
 */
import { formatNumber } from "./numbers.ts"
import { terminalSequence } from "./output.ts"
import type { Terminal } from "./terminal.ts"
import { truncate } from "./text.ts"
import { escapeToLine } from "./visible.ts"

const REDRAW_INTERVAL_MS = 100
const TICK_MS = 1_000
const LINE_INTERVAL_MS = 10_000 // in a pipe; shorter work writes nothing
/** Delay before waiting is shown. */
const QUIET_MS = 400

export interface Progress {
  /** Shows the current work; `at` is its progress. */
  show(what: string, at?: ProgressSteps): void
  /** Removes the line for other output. The next `show` draws it again. */
  clear(): void
  /** Removes the line for good. Must be called, even after a failure. */
  end(): void
}

export interface ProgressSteps {
  readonly done: number
  readonly of: number
}

export type ProgressTerminal = Pick<Terminal, "complain"> & Partial<Pick<Terminal, "columns" | "canRewrite">>

const DEFAULT_COLUMNS = 80

export function progressOn(terminal: ProgressTerminal, now: () => number = () => performance.now()): Progress {
  const { complain, canRewrite = false } = terminal
  const started = now()
  let words = ""
  let isShown = false
  let drawnAt = canRewrite ? Number.NEGATIVE_INFINITY : started
  const draw = () => {
    const at = now()
    if (words === "" || at - drawnAt < (canRewrite ? REDRAW_INTERVAL_MS : LINE_INTERVAL_MS)) return
    drawnAt = at
    const seconds = at - started >= TICK_MS ? `, ${formatNumber(Math.floor((at - started) / 1_000))} s` : ""
    const line = escapeToLine(`${words}${seconds}`)
    if (canRewrite)
      complain(
        `${terminalSequence("1G")}${truncate(line, (terminal.columns ?? DEFAULT_COLUMNS) - 1)}${terminalSequence("K")}`,
      )
    else complain(`${line}\n`)
    isShown = canRewrite
  }
  const clear = () => {
    if (isShown) complain(`${terminalSequence("1G")}${terminalSequence("K")}`)
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

/** Shows a line while work without known progress runs. Short work shows none. */
export async function withProgress<T>(terminal: ProgressTerminal, what: string, work: () => Promise<T>): Promise<T> {
  const progress = progressOn(terminal)
  const timer = setTimeout(() => progress.show(what), QUIET_MS)
  timer.unref()
  try {
    return await work()
  } finally {
    clearTimeout(timer)
    progress.end()
  }
}
