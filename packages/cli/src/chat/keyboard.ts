/** What keys do: answer an open question, edit the input line, or call the chat. */
import type { PermissionMode } from "@strata/core/internal"
import type { Chat } from "./chat.ts"
import type { Dialog } from "./dialog.ts"
import { editorAfter } from "./editing.ts"
import { EMPTY_EDITOR, editorWith, insert } from "./editor.ts"
import type { Intent } from "./keys.ts"

const CYCLED_MODES: readonly PermissionMode[] = ["ask", "accept-edits", "plan"] // bypass needs its name typed

export function press(chat: Chat, intent: Intent): void {
  const { dialogs, isLeaving } = chat.store.snapshot()
  if (isLeaving && intent.type !== "interrupt") chat.store.dispatch({ type: "leaving", isLeaving: false })
  if (dialogs[0]) answer(chat, { dialog: dialogs[0], intent })
  else act(chat, intent)
}

function answer(chat: Chat, { dialog, intent }: { readonly dialog: Dialog; readonly intent: Intent }): void {
  if (intent.type === "expand" && dialog.body) {
    chat.print(dialog.title, dialog.body.text.split("\n"))
    return
  }
  const given = chat.store.pressInDialog(dialog, intent)
  // dismissing the agent's question stops it
  if (given?.type === "dismissed" && dialog.from === "agent") chat.interrupt()
}

function act(chat: Chat, intent: Intent): void {
  const { store } = chat
  const { editor } = store.snapshot()
  if (intent.type === "escape") chat.interrupt()
  else if (intent.type === "interrupt") interruptOrLeave(chat)
  else if (intent.type === "leave" && editor.text === "") chat.leave()
  else if (intent.type === "next-mode") chat.switchMode(modeAfter(chat.agent.mode))
  else if (intent.type === "expand") chat.expand(1)
  else if (intent.type === "submit") submit(chat, insert(editor, intent.text ?? "").text)
  else store.dispatch({ type: "edited", ...editorAfter(store.snapshot(), intent) })
}

function interruptOrLeave(chat: Chat): void {
  if (chat.store.snapshot().isLeaving) {
    chat.leave()
    return
  }
  chat.interrupt()
  chat.store.dispatch({ type: "edited", editor: EMPTY_EDITOR })
  chat.store.dispatch({ type: "leaving", isLeaving: true })
}

/** A backslash at the end starts another line. */
function submit(chat: Chat, text: string): void {
  if (text.endsWith("\\")) chat.store.dispatch({ type: "edited", editor: editorWith(`${text.slice(0, -1)}\n`) })
  else chat.submit(text)
}

function modeAfter(mode: PermissionMode): PermissionMode {
  return CYCLED_MODES[(CYCLED_MODES.indexOf(mode) + 1) % CYCLED_MODES.length]!
}
