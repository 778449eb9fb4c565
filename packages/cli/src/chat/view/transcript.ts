/**
 * The conversation. Final items are printed once, into the terminal's scrollback. Items that still change are redrawn below them, cut to
 * their end if they do not fit.
 */
import { Box, Static } from "ink"
import type { ReactNode } from "react"
import { type Item, settledItems } from "../state.ts"
import { useColumns } from "./columns.ts"
import { h } from "./element.ts"
import { ItemView } from "./item-view.ts"

export interface TranscriptProps {
  readonly items: readonly Item[]
  readonly showing: number
  /** The call that a dialog asks about. The dialog shows it, so the conversation does not. */
  readonly asked?: string | undefined
  /** The most rows for items that still change. */
  readonly rows: number
}

export function Transcript({ items, showing, asked, rows }: TranscriptProps): ReactNode {
  const settled = settledItems(items)
  const open = items.slice(settled)
  const width = useColumns() // printed items are outside of the screen's box
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
