/** Key handling: keys answer an open question, edit the input line, or call the chat. */

import type { PermissionMode } from "@strata/core"
import { applyCompletion, type Menu, menuFor, withSelected } from "./completion.ts"
import { type Dialog, optionNamed } from "./dialog.ts"
import { layoutDialog, turnPage, type WindowSize } from "./dialog-layout.ts"
import { type Editor, EMPTY_EDITOR, edit, editorWith, insert, moveLine } from "./editor.ts"
import { foundInput, type HistorySearch, nextMatch, searchFrom, withQuery } from "./history-search.ts"
import { type InputHistory, step } from "./input-history.ts"
import type { KeyTarget } from "./key-target.ts"
import type { Intent } from "./keys.ts"
import { completeCommand } from "./slash-commands.ts"
import type { RepeatedKey } from "./state.ts"

// Keys while a menu or a history search is open. They take precedence over all other keys.

/** Returns whether the key was for the menu. */
export function pressInMenu(chat: KeyTarget, menu: Menu, intent: Intent): boolean {
  const { store } = chat
  const { editor, completion } = store.snapshot()
  const done = applyCompletion(editor, menu)
  switch (intent.type) {
    case "up":
    case "down":
      store.dispatch({
        type: "completion",
        change: withSelected(completion, menu, intent.type === "up" ? -1 : 1),
      })
      return true
    case "complete":
      store.dispatch({ type: "edited", editor: done })
      return true
    case "escape":
    case "cancel":
      store.dispatch({ type: "completion", change: { closed: menu.trigger.from } })
      return true
    case "submit":
      if (intent.text !== undefined) return false // submitted together with its text, so no menu was visible
      if (menu.trigger.kind === "command") chat.submit(done.text.trimEnd())
      else store.dispatch({ type: "edited", editor: done })
      return true
    default:
      return false
  }
}

/** Returns whether the search used the key. Any other key ends the search with the current match and then has its usual effect. */
export function pressInSearch(chat: KeyTarget, search: HistorySearch, intent: Intent): boolean {
  const { store } = chat
  const { inputs } = store.snapshot().history
  const goOn = (next: HistorySearch) => store.dispatch({ type: "searching", search: next })
  const end = (found = search) => store.dispatch({ type: "searched", editor: foundInput(found, inputs) })
  switch (intent.type) {
    case "search":
    case "up":
      goOn(nextMatch(search, { inputs, direction: "older" }))
      return true
    case "down":
      goOn(nextMatch(search, { inputs, direction: "newer" }))
      return true
    case "insert":
      goOn(withQuery(search, search.query + intent.text, inputs))
      return true
    case "edit":
      if (intent.edit !== "backspace") break
      goOn(withQuery(search, [...search.query].slice(0, -1).join(""), inputs))
      return true
    case "escape":
    case "cancel":
    case "interrupt":
      store.dispatch({ type: "searched", editor: search.before })
      return true
    case "submit":
      end(intent.text === undefined ? search : withQuery(search, search.query + intent.text, inputs))
      return true
    case "complete":
      end()
      return true
  }
  end()
  return false
}

const CYCLED_MODES: readonly PermissionMode[] = ["ask", "accept-edits", "plan"] // bypass must be chosen by name

const REPEATED = { "ctrl-c": "interrupt", esc: "escape" } as const satisfies Record<RepeatedKey, Intent["type"]>

export function press(chat: KeyTarget, given: Intent, window: WindowSize): void {
  const intent = withoutLongText(chat, given)
  const { dialogs, ready, pressed } = chat.store.snapshot()
  if (pressed && intent.type !== REPEATED[pressed]) chat.store.dispatch({ type: "pressed", key: undefined })
  const [dialog] = dialogs
  if (dialog && dialog.id === ready) {
    if (pressed === "esc") chat.store.dispatch({ type: "pressed", key: undefined })
    answer(chat, { dialog, intent, window })
    return
  }
  pressAtInput(chat, intent) // a question takes no keys before it is visible, or while the user types
  if (dialog) chat.store.postpone(dialog.id)
}

/** Replaces a long text, which must have been pasted, with a label, so that the screen stays fast. */
function withoutLongText({ store }: KeyTarget, intent: Intent): Intent {
  if (intent.type !== "insert" && intent.type !== "submit") return intent
  return intent.text === undefined ? intent : { ...intent, text: store.abbreviate(intent.text) ?? "" }
}

interface KeyInDialog {
  readonly dialog: Dialog
  readonly intent: Intent
  readonly window: WindowSize
}

function answer(chat: KeyTarget, { dialog, intent, window }: KeyInDialog): void {
  if (intent.type === "expand" && dialog.body) {
    chat.print(dialog.title, dialog.body.text.split("\n"))
    return
  }
  const named = optionNamed(dialog, intent)
  if (named !== undefined && isUnread(dialog, named, window)) {
    chat.store.dispatch({ type: "dialog", dialog: { ...dialog, selected: named } })
    return
  }
  const direction = dialog.reply ? undefined : pageDirection(intent)
  if (direction) {
    chat.store.dispatch({ type: "dialog", dialog: turnPage(dialog, { direction, window }) })
    return
  }
  const given = chat.store.pressInDialog(dialog, intent)
  // dismissing a question of the agent interrupts it; a sub-agent's call is only denied
  if (given?.type === "dismissed" && dialog.from === "agent" && dialog.agent === undefined) chat.interrupt()
}

/** Whether the option's description is not visible. Its key then scrolls to it, and the next press chooses it. */
function isUnread(dialog: Dialog, index: number, window: WindowSize): boolean {
  if (dialog.options[index]?.about === undefined) return false
  return !layoutDialog(dialog, window).options.some((shown) => shown.index === index)
}

function pageDirection(intent: Intent): "up" | "down" | undefined {
  if (intent.type === "page-up") return "up"
  return intent.type === "page-down" || (intent.type === "insert" && intent.text === " ") ? "down" : undefined
}

function pressAtInput(chat: KeyTarget, intent: Intent): void {
  const { search, editor, completion } = chat.store.snapshot()
  const menu = search ? undefined : menuFor(editor, completion)
  const isTaken = search ? pressInSearch(chat, search, intent) : menu !== undefined && pressInMenu(chat, menu, intent)
  if (!isTaken) act(chat, intent)
  chat.completer.look()
}

function act(chat: KeyTarget, intent: Intent): void {
  const { store } = chat
  const { editor } = store.snapshot()
  if (intent.type === "escape") stopOrGoBack(chat)
  else if (intent.type === "interrupt") interruptOrLeave(chat)
  else if (intent.type === "leave" && editor.text === "") chat.leave()
  else if (intent.type === "next-mode") chat.nextMode()
  else if (intent.type === "expand") chat.expand(1)
  else if (intent.type === "search") store.dispatch({ type: "searching", search: searchFrom(editor) })
  else if (intent.type === "undo" || intent.type === "redo") store.dispatch({ type: "undone", direction: intent.type })
  else if (intent.type === "submit") submit(chat, insert(editor, intent.text ?? "").text)
  else store.dispatch({ type: "edited", ...editorAfter(store.snapshot(), intent) })
}

function interruptOrLeave(chat: KeyTarget): void {
  if (chat.store.snapshot().pressed === "ctrl-c") {
    chat.leave()
    return
  }
  chat.interrupt()
  chat.store.dispatch({ type: "edited", editor: EMPTY_EDITOR })
  chat.store.dispatch({ type: "pressed", key: "ctrl-c" })
}

/** An Esc that stopped something does not count as the first of two. A cleared line can be restored with undo. */
function stopOrGoBack(chat: KeyTarget): void {
  const { store } = chat
  const { pressed, editor } = store.snapshot()
  if (pressed !== "esc") {
    if (!chat.interrupt()) store.dispatch({ type: "pressed", key: "esc" })
    return
  }
  store.dispatch({ type: "pressed", key: undefined })
  if (editor.text !== "") store.dispatch({ type: "edited", editor: EMPTY_EDITOR })
  else chat.goBack()
}

/** Submits the text. A backslash at the end starts another line instead. */
function submit(chat: KeyTarget, text: string): void {
  if (text.endsWith("\\")) chat.store.dispatch({ type: "edited", editor: editorWith(`${text.slice(0, -1)}\n`) })
  else chat.submit(text)
}

export function modeAfter(mode: PermissionMode): PermissionMode {
  return CYCLED_MODES[(CYCLED_MODES.indexOf(mode) + 1) % CYCLED_MODES.length]!
}

/** The input line and its history. */
interface Input {
  readonly editor: Editor
  readonly history: InputHistory
}

export function editorAfter({ editor, history }: Input, intent: Intent): Input {
  switch (intent.type) {
    case "insert":
      return { editor: insert(editor, intent.text), history }
    case "newline":
      return { editor: insert(editor, "\n"), history }
    case "edit":
      return { editor: edit(editor, intent.edit), history }
    case "leave":
      return { editor: edit(editor, "delete"), history }
    case "up":
    case "down":
      return moved({ editor, history }, intent.type)
    case "complete": {
      const completed = completeCommand(editor.text)
      return { editor: completed === undefined ? editor : editorWith(completed), history }
    }
    default:
      return { editor, history }
  }
}

/** Moves within the input first, then through earlier inputs. */
function moved({ editor, history }: Input, direction: "up" | "down"): Input {
  const line = moveLine(editor, direction)
  if (line) return { editor: line, history }
  const earlier = step(history, { direction, text: editor.text })
  return earlier ? { editor: editorWith(earlier.text), history: earlier.history } : { editor, history }
}
