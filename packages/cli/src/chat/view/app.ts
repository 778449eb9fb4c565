/** The whole screen, from the top: conversation, work line, question or input line, status line. */
import { Box, useApp, useInput, usePaste, useWindowSize } from "ink"
import { type ReactNode, useEffect, useSyncExternalStore } from "react"
import { firstLine } from "../../display/text.ts"
import type { Chat } from "../chat.ts"
import { menuFor } from "../completion.ts"
import { isLow } from "../dialog-layout.ts"
import type { Editor } from "../editor.ts"
import { foundInput } from "../history-search.ts"
import { press } from "../keyboard.ts"
import { intentsOf, withPlainEnds } from "../keys.ts"
import { type MenuRow, type MenuSpace, menuRows, searchLine } from "../menu-rows.ts"
import type { ChatState, QueuedInput } from "../state.ts"
import { ColumnsContext } from "./columns.ts"
import { DialogBox } from "./dialog-box.ts"
import { h } from "./element.ts"
import { InputBox } from "./input-box.ts"
import { StatusLine } from "./status-line.ts"
import { Text } from "./text.ts"
import { useTheme } from "./theme.ts"
import { Transcript } from "./transcript.ts"
import { WorkLine } from "./work-line.ts"

const ROWS_AROUND = 8 // work line, input with its borders, status line, and a row to spare: a frame as high as the window would scroll
const ROWS_BESIDE_DIALOG = 16 // the same with a question and its choices
const ROWS_ABOVE_BODY = 3
const ROWS_ABOVE_MENU = 2

export function App({ chat }: { readonly chat: Chat }): ReactNode {
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
  const around = dialog ? ROWS_BESIDE_DIALOG : ROWS_AROUND + (menu.length === 0 ? 0 : menu.length + 1)
  const fewest = menu.length === 0 ? ROWS_ABOVE_BODY : ROWS_ABOVE_MENU
  const screen = h(
    Box,
    { flexDirection: "column", width: "100%" }, // not a number: on a resize the renderer draws once before the new one is known
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
    h(StatusLine, { status: state.status, queued: state.queued.length, isLeaving: state.isLeaving }),
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
  return items.length <= 1 ? "type a task, or /help" : ""
}

function QueuedLines({ queued }: { readonly queued: readonly QueuedInput[] }): ReactNode {
  const theme = useTheme()
  return queued.map(({ uuid, text }) =>
    h(Text, { key: uuid, ...theme.quiet, wrap: "truncate-end" }, ` queued: ${firstLine(text)}`),
  )
}
