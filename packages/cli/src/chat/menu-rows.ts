/** The lines below the input line: the menu, or the search through earlier inputs. Pure. */
import { padEnd, truncate, truncateStart, widthOf } from "../display/text.ts"
import type { Menu } from "./completion.ts"
import type { HistorySearch } from "./history-search.ts"

const MAX_ROWS = 8
const MIN_ROWS = 3
const ROWS_WITHOUT_MENU = 11 // conversation, work line, input and status line on a low screen

export interface MenuRow {
  readonly text: string
  readonly isSelected: boolean
}

export interface MenuSpace {
  readonly columns: number
  /** Rows of the window. */
  readonly rows: number
}

/** The choices around the selected one that fit, and a line that counts the others. */
export function menuRows({ choices, selected, trigger }: Menu, { columns, rows }: MenuSpace): readonly MenuRow[] {
  const room = Math.max(MIN_ROWS, Math.min(MAX_ROWS, rows - ROWS_WITHOUT_MENU))
  const shown = choices.length <= room ? choices.length : room - 1
  const above = Math.max(0, selected - shown + 1)
  const below = choices.length - above - shown
  const widest = Math.max(...choices.slice(above, above + shown).map(({ label }) => widthOf(label)))
  const width = Math.min(widest, columns - 3)
  const isPath = trigger.kind === "file"
  const lines = choices.slice(above, above + shown).map(({ label, about }, i) => {
    const isSelected = above + i === selected
    const name = padEnd((isPath ? truncateStart : truncate)(label, width), width)
    const text = truncate(`${isSelected ? "> " : "  "}${name}  ${about}`.trimEnd(), columns - 1)
    return { text, isSelected }
  })
  const others = [...(above > 0 ? [`${above} above`] : []), ...(below > 0 ? [`${below} below`] : [])]
  return others.length === 0 ? lines : [...lines, { text: `  … ${others.join(", ")}`, isSelected: false }]
}

/** The query comes first, because a narrow screen cuts off the end. */
export function searchLine({ query, at, isFailing }: HistorySearch): string {
  const state = isFailing ? (at === undefined ? ": no match" : ": no older match") : ""
  return `search earlier inputs: ${query}${state} (Ctrl-R older, Enter takes it, Esc leaves)`
}
