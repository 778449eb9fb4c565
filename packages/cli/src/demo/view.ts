/** The demo on a screen: the conversation as `strata chat` shows it, and below it the window that fills up. */
import { Box, type Instance, render, useAnimation, useStdout } from "ink"
import type { ReactNode } from "react"
import type { Item } from "../chat/state.ts"
import { Transcript } from "../chat/view/app.ts"
import { ColumnsContext } from "../chat/view/columns.ts"
import { h } from "../chat/view/element.ts"
import { Text } from "../chat/view/text.ts"
import { ThemeContext, themeFor } from "../chat/view/theme.ts"
import { tidyOnResize } from "../chat/view/tidy-resize.ts"
import { leaveScreen, takeScreen } from "../display/output.ts"
import { picture } from "./picture.ts"
import type { DemoState } from "./state.ts"

const CLOCK_MS = 250 // the clock runs even without events
const RESERVED_ROWS = 2 // a blank row above the window, and one to spare: a frame as high as the screen would scroll
const MIN_ROWS = 2 // of the conversation

export interface DemoFrame {
  readonly items: readonly Item[]
  /** Absent until the conversation is open. */
  readonly state: DemoState | undefined
  readonly hasColours: boolean
  readonly elapsedMs: () => number
}

export function DemoView({ items, state, hasColours, elapsedMs }: DemoFrame): ReactNode {
  const { columns, rows } = useStdout().stdout as NodeJS.WriteStream
  useAnimation({ interval: CLOCK_MS })
  const lines = state ? picture(state, { columns, rows, hasColours, elapsedMs: elapsedMs() }) : []
  const left = Math.max(MIN_ROWS, rows - lines.length - RESERVED_ROWS)
  const view = h(
    Box,
    { flexDirection: "column", width: "100%" },
    h(Transcript, { items, showing: 0, rows: left }),
    h(
      Box,
      { flexDirection: "column", flexShrink: 0, marginTop: 1, paddingLeft: 1 },
      lines.map((spans, at) =>
        h(
          Text,
          { key: at, wrap: "truncate-end" },
          spans.length === 0 ? " " : spans.map(({ text, ...look }, i) => h(Text, { key: i, ...look }, text)),
        ),
      ),
    ),
  )
  return h(ThemeContext.Provider, { value: themeFor(hasColours) }, h(ColumnsContext.Provider, { value: columns }, view))
}

export interface DemoDrawing {
  draw(frame: DemoFrame): void
  /** Ends drawing; the last frame stays on the screen. */
  end(): void
}

/** `stray` receives the output of other code. */
export function openDrawing(first: DemoFrame, stray: (text: string) => void): DemoDrawing {
  const { app, draw } = drawOn(takeScreen({ stray, leave: () => app.unmount() }), first)
  return { draw, end: leaveScreen }
}

export function drawOn(stdout: NodeJS.WriteStream, first: DemoFrame) {
  let latest = first
  const draw = (frame: DemoFrame) => {
    latest = frame
    app.rerender(h(DemoView, frame))
  }
  const tidy = tidyOnResize(stdout)
  // before the renderer, which would draw the old frame once: in a lower window its top would stay in the scrollback
  stdout.on("resize", () => draw(latest))
  const app: Instance = render(h(DemoView, first), {
    stdout: tidy,
    ...{ patchConsole: false, exitOnCtrlC: false, interactive: true },
  })
  return { app, draw }
}
