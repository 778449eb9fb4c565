/** A question with choices, as a value: what is shown, what is selected, and what keys do. Permissions, plans and lists are all of this kind. */
import { type Editor, EMPTY_EDITOR, edit, insert } from "./editor.ts"
import type { Intent } from "./keys.ts"

export interface Dialog {
  readonly id: string
  /** Who asks: the agent, which waits for the answer, or a command of the person's own. */
  readonly from: "agent" | "command"
  readonly title: string
  /** Why it is asked. */
  readonly why?: string
  /** What the question is about, to be looked at before answering. */
  readonly body?: { readonly form: "diff" | "markdown" | "text"; readonly text: string }
  readonly options: readonly DialogOption[]
  readonly selected: number
  /** Words of one's own are being typed, for the selected option. */
  readonly words?: Editor
}

export interface DialogOption {
  readonly label: string
  readonly hint?: string
  /** A letter that chooses it at once. */
  readonly letter?: string
  /** Choosing it asks for words; they may be left empty unless it says otherwise. */
  readonly asksWords?: "optional" | "required"
}

export type DialogAnswer =
  | { readonly type: "chosen"; readonly index: number; readonly words?: string }
  | { readonly type: "dismissed" }

export type DialogStep =
  | { readonly type: "open"; readonly dialog: Dialog }
  | { readonly type: "answered"; readonly answer: DialogAnswer }

export function pressInDialog(dialog: Dialog, intent: Intent): DialogStep {
  if (intent.type === "escape" || intent.type === "interrupt" || intent.type === "leave") return leave(dialog, intent)
  return dialog.words ? pressInWords(dialog, dialog.words, intent) : pressInOptions(dialog, intent)
}

/** Esc leaves the words first, then the question. */
function leave(dialog: Dialog, intent: Intent): DialogStep {
  const { words, ...rest } = dialog
  if (words && intent.type === "escape" && rest.options.length > 1) return { type: "open", dialog: rest }
  return { type: "answered", answer: { type: "dismissed" } }
}

function pressInOptions(dialog: Dialog, intent: Intent): DialogStep {
  const { options, selected } = dialog
  const last = options.length - 1
  if (intent.type === "up")
    return { type: "open", dialog: { ...dialog, selected: selected === 0 ? last : selected - 1 } }
  if (intent.type === "down")
    return { type: "open", dialog: { ...dialog, selected: selected === last ? 0 : selected + 1 } }
  if (intent.type === "submit") return choose(dialog, indexOf(intent.text ?? "", options) ?? selected)
  const named = intent.type === "insert" ? indexOf(intent.text, options) : undefined
  return named === undefined ? { type: "open", dialog } : choose(dialog, named)
}

/** By its letter or its number. */
function indexOf(typed: string, options: readonly DialogOption[]): number | undefined {
  const key = typed.trim().toLowerCase()
  const byLetter = key === "" ? -1 : options.findIndex(({ letter }) => letter === key)
  const index = byLetter >= 0 ? byLetter : Number(/^[1-9]$/.exec(key)?.[0] ?? 0) - 1
  return index >= 0 && index < options.length ? index : undefined
}

function choose(dialog: Dialog, index: number): DialogStep {
  if (dialog.options[index]?.asksWords)
    return { type: "open", dialog: { ...dialog, selected: index, words: EMPTY_EDITOR } }
  return { type: "answered", answer: { type: "chosen", index } }
}

function pressInWords(dialog: Dialog, words: Editor, intent: Intent): DialogStep {
  const open = (changed: Editor): DialogStep => ({ type: "open", dialog: { ...dialog, words: changed } })
  if (intent.type === "insert") return open(insert(words, intent.text))
  if (intent.type === "newline") return open(insert(words, "\n"))
  if (intent.type === "edit") return open(edit(words, intent.edit))
  if (intent.type !== "submit") return open(words)
  const said = insert(words, intent.text ?? "").text.trim()
  if (said === "" && dialog.options[dialog.selected]?.asksWords === "required") return open(words)
  return {
    type: "answered",
    answer: { type: "chosen", index: dialog.selected, ...(said === "" ? {} : { words: said }) },
  }
}
