/** The screen, from top to bottom: conversation, work line, question or input line, status line. */

import { Box, Static, useAnimation, useApp, useInput, usePaste, useWindowSize } from "ink"
import { type ReactNode, useEffect, useRef, useSyncExternalStore } from "react"
import { formatClockTime, formatDollars, pluralize } from "../../display/numbers.ts"
import { firstLine, widthOf } from "../../display/text.ts"
import { WAITING } from "../../store-waiting.ts"
import { menuFor } from "../completion.ts"
import { isLow } from "../dialog-layout.ts"
import type { Editor } from "../editor.ts"
import { foundInput } from "../history-search.ts"
import type { KeyTarget } from "../key-target.ts"
import { press } from "../keyboard.ts"
import { intentsOf, withPlainEnds } from "../keys.ts"
import { type MenuRow, type MenuSpace, menuRows, searchLine } from "../menu-rows.ts"
import { bar, panelColumns } from "../panels.ts"
import { type ChatState, type Item, type QueuedInput, type Status, settledItems, type Work } from "../state.ts"
import { ColumnsContext, useColumns } from "./columns.ts"
import { DialogBox } from "./dialog-box.ts"
import { h } from "./element.ts"
import { InputBox } from "./input-box.ts"
import { ItemView } from "./item-view.ts"
import { Text } from "./text.ts"
import { useTheme } from "./theme.ts"

// The conversation. Final items are printed once, into the terminal's scrollback. Items that still change are redrawn below them, cut to
// their end if they do not fit. A panel that is last and fits is redrawn too, so that it follows the width of the window.

const ROWS_OF_TITLE = 2 // including the blank row above it

export interface TranscriptProps {
  readonly items: readonly Item[]
  readonly showing: number
  /** Id of the call that a dialog asks about. The dialog shows it, so the conversation does not. */
  readonly asked?: string | undefined
  /** Maximum rows for items that still change. */
  readonly rows: number
}

export function Transcript({ items, showing, asked, rows }: TranscriptProps): ReactNode {
  const width = useColumns() // printed items are outside of the layout
  const printed = useRef({ showing, count: 0 })
  const isOpen = isLastPanelOpen(items, { width, rows })
  const final = settledItems(items)
  const before = printed.current.showing === showing ? printed.current.count : 0
  const settled = Math.max(before, isOpen ? Math.min(final, items.length - 1) : final) // printed lines cannot be removed
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

/**
 * The status line: model, permission mode, free space, cost, turns, working agents, and a running dream. In a narrow window the least
 * important parts are omitted.
 */
const BAR_COLUMNS = 8

interface StatusLineProps {
  readonly status: Status
  readonly queued: number
  /** Explains the second press of a key, or reports that the store does not answer. */
  readonly hint: string | undefined
}

function StatusLine({ status, queued, hint }: StatusLineProps): ReactNode {
  const theme = useTheme()
  const columns = useColumns()
  const byFill = { fine: theme.quiet, warning: theme.warning, error: theme.bad }
  const colour = hint === undefined ? byFill[status.fill] : theme.warning
  const words = status.model === "" ? "" : statusText(status, { queued, columns: columns - 1 }) // "": none is open yet
  const text = hint ?? words
  return h(Text, { ...colour, wrap: "truncate-end" }, ` ${text}`)
}

function pressedHint({ pressed, editor }: ChatState): string | undefined {
  if (pressed === "ctrl-c") return "Press Ctrl-C again to exit. The conversation is kept."
  if (pressed === undefined) return undefined
  return `Press Esc again to ${editor.text === "" ? "go back to an earlier message" : "clear the line"}.`
}

interface AvailableColumns {
  readonly queued: number
  readonly columns: number
}

export function statusText(status: Status, { queued, columns }: AvailableColumns): string {
  const { model, mode, percentLeft, turns, isPriceIncomplete, agents = 0, dream } = status
  const left = `${percentLeft}% left`
  const facts = [
    model,
    mode,
    `${bar(percentLeft / 100, BAR_COLUMNS)} ${left}`,
    `${formatDollars(status.dollars)}${isPriceIncomplete ? "+" : ""}`,
    pluralize(turns, "turn"),
    ...(agents === 0 ? [] : [pluralize(agents, "agent")]),
    ...(dream === undefined ? [] : [`dream ${dream}`]),
    ...(queued === 0 ? [] : [`${queued} queued`]),
  ]
  const narrow = facts.with(2, left)
  const lines = [facts, narrow, narrow.toSpliced(4, 1), narrow.toSpliced(3, 2)].map((parts) => parts.join(" · "))
  return lines.find((line) => widthOf(line) <= columns) ?? lines.at(-1)!
}

/** Frames of the work line's spinner. The line shows the agent's activity and how to stop it. */
const FRAMES = ["|", "/", "-", "\\"]
const FRAME_MS = 250

function WorkLine({ work }: { readonly work: Work }): ReactNode {
  const theme = useTheme()
  const { frame } = useAnimation({ interval: FRAME_MS, isActive: work.type !== "idle" })
  if (work.type === "idle") return null
  const colour = work.type === "retrying" ? theme.warning : theme.accent
  return h(
    Box,
    { marginTop: 1, gap: 1 },
    h(Box, { flexShrink: 0 }, h(Text, colour, FRAMES[frame % FRAMES.length])),
    h(Text, { ...colour, wrap: "truncate-end" }, workText(work, Date.now())),
  )
}

export function workText(work: Exclude<Work, { type: "idle" }>, now: number): string {
  switch (work.type) {
    case "opening":
      return "Opening the conversation…"
    case "interrupting":
      return "Interrupting…"
    case "working":
      return `Working, ${formatClockTime(now - work.since)} (Esc interrupts)`
    case "compacting":
      return `Compacting: ${work.step}, ${formatClockTime(now - work.since)} (Esc cancels)`
    case "retrying": {
      const left = Math.max(0, Math.ceil((work.until - now) / 1_000))
      const when = left === 0 ? "now" : `in ${left} s`
      return `Attempt ${work.attempt} failed, retrying ${when} (Esc interrupts): ${work.reason}`
    }
  }
}

const RESERVED_ROWS = 8 // work line, input with its borders, status line, and a spare row: a frame as high as the window would scroll
const RESERVED_ROWS_WITH_DIALOG = 16 // the same with a question and its choices
const ROWS_ABOVE_BODY = 3
const ROWS_ABOVE_MENU = 2

export function App({ chat }: { readonly chat: KeyTarget }): ReactNode {
  const window = useWindowSize()
  const { waitUntilRenderFlush } = useApp()
  const state = useSyncExternalStore(chat.store.subscribe, chat.store.snapshot)
  const question = state.dialogs[0]?.id
  useInput((input, key) => {
    for (const intent of intentsOf(input, key)) press(chat, intent, window)
  })
  usePaste((text) => press(chat, { type: "insert", text: withPlainEnds(text) }, window))
  useEffect(() => {
    if (question !== undefined) void waitUntilRenderFlush().then(() => chat.store.painted(question))
  }, [chat, question, waitUntilRenderFlush])
  return h(Screen, { state })
}

export function Screen({ state }: { readonly state: ChatState }): ReactNode {
  const { rows, columns } = useWindowSize()
  const [dialog] = state.dialogs
  const menu = dialog ? [] : linesBelowInput(state, { rows, columns })
  const around = dialog ? RESERVED_ROWS_WITH_DIALOG : RESERVED_ROWS + (menu.length === 0 ? 0 : menu.length + 1)
  const fewest = menu.length === 0 ? ROWS_ABOVE_BODY : ROWS_ABOVE_MENU
  const screen = h(
    Box,
    { flexDirection: "column", width: "100%" }, // not a number: on a resize the renderer draws once before the new width is known
    h(Transcript, {
      items: state.items,
      asked: dialog?.call,
      showing: state.showing,
      rows: dialog?.body ? (isLow({ rows }) ? 0 : ROWS_ABOVE_BODY) : Math.max(fewest, rows - around),
    }),
    dialog ? null : h(WorkLine, { work: state.work }),
    h(QueuedLines, { queued: state.queued }),
    dialog
      ? h(DialogBox, { dialog, rows, isReady: state.ready === dialog.id })
      : h(InputBox, { editor: shownEditor(state), placeholder: placeholderFor(state), menu, rows }),
    h(StatusLine, {
      status: state.status,
      queued: state.queued.length,
      hint: pressedHint(state) ?? (state.isStoreSilent ? WAITING : undefined),
    }),
  )
  return h(ColumnsContext.Provider, { value: columns }, screen)
}

const shownEditor = ({ search, editor, history }: ChatState): Editor =>
  search ? foundInput(search, history.inputs) : editor

function linesBelowInput({ search, editor, completion }: ChatState, space: MenuSpace): readonly MenuRow[] {
  if (search) return [{ text: ` ${searchLine(search)}`, isSelected: false }]
  const menu = menuFor(editor, completion)
  return menu ? menuRows(menu, space) : []
}

function placeholderFor({ work, items }: ChatState): string {
  if (work.type !== "idle") return "type to queue a message"
  return items.some(({ kind }) => kind === "user") ? "" : "type a task, or /help"
}

function QueuedLines({ queued }: { readonly queued: readonly QueuedInput[] }): ReactNode {
  const theme = useTheme()
  return queued.map(({ uuid, text }) =>
    h(Text, { key: uuid, ...theme.quiet, wrap: "truncate-end" }, ` queued: ${firstLine(text)}`),
  )
}
