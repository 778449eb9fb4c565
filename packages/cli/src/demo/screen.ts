/** Shows the demo: a picture redrawn in place on a screen, one line per event elsewhere. */

import type { QueryEvent } from "@strata/core"
import type { Scratch } from "@strata/sim"
import { percent, short } from "../display/numbers.ts"
import type { Terminal } from "../display/terminal.ts"
import { fittedAtEnd, wrapped } from "../display/text.ts"
import { LivePicture } from "./live.ts"
import { happeningLine, picture } from "./picture.ts"
import type { DemoState, Happening } from "./state.ts"

export interface DemoScreen {
  begin(scratch: Scratch, state: DemoState): void
  show(state: DemoState, event: QueryEvent): void
  /** Calling it twice is fine. */
  end(): void
}

export interface ScreenOptions {
  readonly elapsedMs: () => number
}

const PICTURE = { columns: 50, rows: 10 } // the picture needs this much room
const FRAME_MS = 100 // the clock runs even if nothing happens

export function openScreen(terminal: Terminal, options: ScreenOptions): DemoScreen {
  return terminal.isScreen && terminal.columns >= PICTURE.columns && terminal.rows >= PICTURE.rows
    ? liveScreen(terminal, options)
    : plainScreen(terminal)
}

function liveScreen(terminal: Terminal, { elapsedMs }: ScreenOptions): DemoScreen {
  const live = new LivePicture(terminal)
  let latest: DemoState | undefined
  const lines = () => {
    const { style, columns, rows } = terminal
    return latest ? picture(latest, { style, columns, rows, elapsedMs: elapsedMs() }) : []
  }
  const draw = () => live.draw(lines())
  let timer: NodeJS.Timeout | undefined
  let ended = false
  return {
    begin(scratch, state) {
      terminal.print(`${introduction({ scratch, state, columns: terminal.columns }).join("\n")}\n\n`)
      latest = state
    },
    show(state) {
      latest = state
      timer ??= setInterval(draw, FRAME_MS)
    },
    end() {
      if (ended) return
      ended = true
      clearInterval(timer)
      live.end(lines())
    },
  }
}

/** One line per turn and per finished event. */
export function plainScreen({ print, style, columns }: Terminal): DemoScreen {
  const width = Math.min(columns, 100)
  const line = (text: string) => print(`${text}\n`)
  let last: Happening | undefined
  return {
    begin(scratch, state) {
      line(introduction({ scratch, state, columns }).join("\n"))
      line("")
    },
    show(state, event) {
      if (event.type === "response") line(turnLine(state))
      const newest = event.type === "tool-result" ? resultHappening(state, event) : state.happenings.at(-1)
      const isShown = event.type === "tool-result" || (LOGGED.has(event.type) && state.happenings.at(-1) !== last)
      last = state.happenings.at(-1)
      if (newest && isShown) line(happeningLine(newest, { style, width }))
    },
    end: () => undefined,
  }
}

/** Events that may add a line to the log. */
const LOGGED: ReadonlySet<QueryEvent["type"]> = new Set([
  "user",
  "retry",
  "attached",
  "notice",
  "tool-denied",
  "compaction",
  "compacted",
])

/** Calls run in parallel: the finished one may not be the last line. */
const resultHappening = (state: DemoState, { id }: { readonly id: string }) =>
  state.happenings.findLast((one) => one.id === id)

function turnLine({ turn, size, thresholds, spent, fill }: DemoState): string {
  const facts = [
    `${short(size)} of ${short(thresholds.window)} tokens`,
    `${percent(spent?.hitRatio ?? 0, 1)} from cache`,
    `$${(spent?.dollars ?? 0).toFixed(4)}`,
    ...(fill === "fine" ? [] : [FILLS[fill]]),
  ]
  return `turn ${turn}: ${facts.join(", ")}`
}

const FILLS = { warning: "past warning", compact: "compaction is due", blocked: "full" } as const

interface Introduction {
  readonly scratch: Scratch
  readonly state: DemoState
  readonly columns: number
}

/** What is about to be shown, and what the thresholds mean. */
function introduction({ scratch, state, columns }: Introduction): readonly string[] {
  const { window, outputReserve, effective, autoCompact, warning } = state.thresholds
  const width = Math.min(columns, 100)
  return [
    ...wrapped(
      `A simulated model works on a scratch copy of ${fittedAtEnd(scratch.source, 40)} (${scratch.files} files). It needs no key and no network, and touches none of your files.`,
      width,
    ),
    "",
    ...wrapped(
      `Its window holds ${short(window)} tokens. Strata reserves ${short(outputReserve)} of them for the model's answer and ${short(effective - autoCompact)} for writing a summary. So it compacts at ${short(autoCompact)}: a summary replaces the older messages. "Past warning" means that fewer than ${short(autoCompact - warning)} tokens are left until then.`,
      width,
    ),
  ]
}
