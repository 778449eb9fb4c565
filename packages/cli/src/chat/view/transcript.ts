/**
 * The conversation. Final items are printed once, into the terminal's scrollback. Items that still change are redrawn below them, cut to
 * their end if they do not fit. A panel that is last and fits is redrawn too, so that it follows the width of the window.
 */
import { Box, Static } from "ink"
import { type ReactNode, useRef } from "react"
import { panelColumns } from "../panels.ts"
import { type Item, settledItems } from "../state.ts"
import { useColumns } from "./columns.ts"
import { h } from "./element.ts"
import { ItemView } from "./item-view.ts"

const ROWS_OF_TITLE = 2 // with the blank row above it

export interface TranscriptProps {
  readonly items: readonly Item[]
  readonly showing: number
  /** The call that a dialog asks about. The dialog shows it, so the conversation does not. */
  readonly asked?: string | undefined
  /** The most rows for items that still change. */
  readonly rows: number
}

export function Transcript({ items, showing, asked, rows }: TranscriptProps): ReactNode {
  const width = useColumns() // printed items are outside of the screen's box
  const printed = useRef({ showing, count: 0 })
  const isOpen = isLastPanelOpen(items, { width, rows })
  const final = settledItems(items)
  const before = printed.current.showing === showing ? printed.current.count : 0
  const settled = Math.max(before, isOpen ? Math.min(final, items.length - 1) : final) // what is printed cannot be taken back
  printed.current = { showing, count: settled }
  const open = items.slice(settled)
  return h(
    Box,
    { flexDirection: "column" },
    h(Static<Item>, {
      key: showing,
      items: items.slice(0, settled),
      children: (item, i) =>
        h(Box, { key: i, width, flexDirection: "column" }, h(ItemView, { item, previous: items[i - 1] })),
    }),
    h(
      Box,
      { flexDirection: "column", maxHeight: rows, overflow: "hidden", justifyContent: "flex-end" },
      open.map((item, i) =>
        item.kind === "tool" && item.id === asked
          ? null
          : h(ItemView, { key: settled + i, item, previous: items[settled + i - 1] }),
      ),
    ),
  )
}

function isLastPanelOpen(
  items: readonly Item[],
  { width, rows }: { readonly width: number; readonly rows: number },
): boolean {
  const last = items.at(-1)
  if (last?.kind !== "panel" || typeof last.lines !== "function") return false
  return ROWS_OF_TITLE + last.lines(panelColumns(width)).length <= rows
}
