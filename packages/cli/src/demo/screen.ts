/** Where the demo is shown: a picture redrawn in place on a screen, one line for each event elsewhere. */
import type { QueryEvent } from "@strata/core/agent"
import type { Terminal } from "../display/terminal.ts"
import { fittedAtEnd, wrapped } from "../display/text.ts"
import { percent, short } from "../display/wording.ts"
import { LivePicture } from "./live.ts"
import { happeningLine, picture } from "./picture.ts"
import type { Scratch } from "./scratch.ts"
import type { DemoState, Happening } from "./state.ts"

export interface DemoScreen {
  begin(scratch: Scratch, state: DemoState): void
  show(state: DemoState, event: QueryEvent): void
  /** Once is enough. */
  end(): void
}

export interface ScreenOptions {
  readonly elapsedMs: () => number
}

const PICTURE_COLUMNS = 78 // in less there is no room for it
const FRAME_MS = 100 // the clock moves also while nothing happens

export function openScreen(terminal: Terminal, options: ScreenOptions): DemoScreen {
  return terminal.isScreen && terminal.columns >= PICTURE_COLUMNS
    ? liveScreen(terminal, options)
    : plainScreen(terminal)
}

function liveScreen(terminal: Terminal, { elapsedMs }: ScreenOptions): DemoScreen {
  const live = new LivePicture(terminal)
  let latest: DemoState | undefined
  const draw = () => {
    if (latest)
      live.draw(
        picture(latest, {
          style: terminal.style,
          columns: terminal.columns,
          rows: terminal.rows,
          elapsedMs: elapsedMs(),
        }),
      )
  }
  const timer = setInterval(draw, FRAME_MS)
  let ended = false
  return {
    begin(scratch, state) {
      terminal.print(`${introduction(scratch, terminal.columns).join("\n")}\n\n`)
      latest = state
      draw()
    },
    show(state) {
      latest = state
    },
    end() {
      if (ended) return
      ended = true
      clearInterval(timer)
      draw()
      live.end()
    },
  }
}

/** One line when something is over, and one for each turn. */
function plainScreen({ print, style, columns }: Terminal): DemoScreen {
  const width = Math.min(columns, 100)
  const line = (text: string) => print(`${text}\n`)
  let last: Happening | undefined
  return {
    begin(scratch) {
      line(introduction(scratch, columns).join("\n"))
      line("")
    },
    show(state, event) {
      if (event.type === "response") line(turnLine(state))
      const newest = event.type === "tool-result" ? resultHappening(state, event) : state.happenings.at(-1)
      const isShown = event.type === "tool-result" || (TOLD.has(event.type) && state.happenings.at(-1) !== last)
      last = state.happenings.at(-1)
      if (newest && isShown) line(happeningLine(newest, { style, width }))
    },
    end: () => undefined,
  }
}

/** Events with a line of their own, where they left one. */
const TOLD: ReadonlySet<QueryEvent["type"]> = new Set([
  "user",
  "retry",
  "attached",
  "notice",
  "tool-denied",
  "compaction",
  "compacted",
])

/** Calls run side by side: the line of the one that is over may not be the last. */
function resultHappening(state: DemoState, { id }: { readonly id: string }) {
  return (
    state.happenings.find((one) => one.id === id) ??
    state.happenings.findLast(({ kind }) => kind === "done" || kind === "failed")
  )
}

function turnLine({ turn, size, thresholds, spent, fill }: DemoState): string {
  const said = [
    `turn ${turn}`,
    `${short(size)} of ${short(thresholds.window)} tokens (${percent(size, thresholds.window)})`,
    `cache ${percent(spent?.hitRatio ?? 0, 1)}`,
    `$${(spent?.dollars ?? 0).toFixed(4)}`,
    ...(fill === "fine" ? [] : [fill]),
  ]
  return said.join(", ")
}

function introduction({ source, files }: Scratch, columns: number): readonly string[] {
  const text = `A simulated model works on a scratch copy of ${fittedAtEnd(source, 40)} (${files} files): no key, no network, nothing of yours is touched.`
  return wrapped(text, Math.min(columns, 100))
}
