/** A question with choices, as a value: its text, the selection, and what keys do. Permissions, plans and lists all use it. */
import { type Editor, EMPTY_EDITOR, edit, insert } from "./editor.ts"
import type { Intent } from "./keys.ts"

export interface Dialog {
  readonly id: string
  /** Who asks: the agent, which waits for the answer, a slash command, or work in the background, for which no query waits. */
  readonly from: "agent" | "command" | "background"
  /** The sub-agent that asks. It works beside the query, so the end of the query leaves its question open. */
  readonly agent?: string
  readonly title: string
  /** The reason for the question. */
  readonly why?: string
  /** More to know before answering, a line each. */
  readonly notes?: readonly DialogNote[]
  /** What to look at before answering: a diff, a plan, a command. */
  readonly body?: DialogBody
  /** The first row of the body on the screen. Default: 0. */
  readonly top?: number
  /** The tool call it is about. While the dialog shows it, the conversation does not. */
  readonly call?: string
  readonly options: readonly DialogOption[]
  readonly selected: number
  /** The person is typing a reply for the selected option. */
  readonly reply?: Editor
}

/** A question before it is asked. */
export type DialogDraft = Omit<Dialog, "id" | "selected" | "from"> & Partial<Pick<Dialog, "selected" | "from">>

export interface DialogNote {
  readonly text: string
  readonly tone: "plain" | "warning"
}

export interface DialogBody {
  readonly form: "diff" | "markdown" | "text"
  readonly text: string
  /** Parts of the text that deserve a look. */
  readonly highlights?: readonly BodyHighlight[]
}

/** `start` and `end` are offsets into the text. */
export interface BodyHighlight {
  readonly kind: string
  readonly start: number
  readonly end: number
}

export interface DialogOption {
  readonly label: string
  /** A few words after the label. */
  readonly hint?: string
  /** A sentence below the label, never cut. */
  readonly about?: string
  /** The key that chooses it. */
  readonly letter?: string
  /** Choosing it asks for a typed reply. */
  readonly asksReply?: "optional" | "required"
}

export type DialogAnswer =
  | { readonly type: "chosen"; readonly index: number; readonly reply?: string }
  | { readonly type: "dismissed" }

export type DialogStep =
  | { readonly type: "open"; readonly dialog: Dialog }
  | { readonly type: "answered"; readonly answer: DialogAnswer }

export function pressInDialog(dialog: Dialog, intent: Intent): DialogStep {
  if (intent.type === "escape" || intent.type === "interrupt" || intent.type === "leave") return leave(dialog, intent)
  return dialog.reply ? pressInReply(dialog, dialog.reply, intent) : pressInOptions(dialog, intent)
}

/** Esc closes the reply first, then the question. */
function leave(dialog: Dialog, intent: Intent): DialogStep {
  const { reply, ...rest } = dialog
  if (reply && intent.type === "escape" && rest.options.length > 1) return { type: "open", dialog: rest }
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
  const named = optionNamed(dialog, intent)
  return named === undefined ? { type: "open", dialog } : choose(dialog, named)
}

/** The option that a key names, by its letter or its number. */
export function optionNamed({ options, reply }: Dialog, intent: Intent): number | undefined {
  return reply || intent.type !== "insert" ? undefined : indexOf(intent.text, options)
}

function indexOf(typed: string, options: readonly DialogOption[]): number | undefined {
  const key = typed.trim().toLowerCase()
  const byLetter = key === "" ? -1 : options.findIndex(({ letter }) => letter === key)
  const index = byLetter >= 0 ? byLetter : Number(/^[1-9]$/.exec(key)?.[0] ?? 0) - 1
  return index >= 0 && index < options.length ? index : undefined
}

function choose(dialog: Dialog, index: number): DialogStep {
  if (dialog.options[index]?.asksReply)
    return { type: "open", dialog: { ...dialog, selected: index, reply: EMPTY_EDITOR } }
  return { type: "answered", answer: { type: "chosen", index } }
}

function pressInReply(dialog: Dialog, reply: Editor, intent: Intent): DialogStep {
  const open = (changed: Editor): DialogStep => ({ type: "open", dialog: { ...dialog, reply: changed } })
  if (intent.type === "insert") return open(insert(reply, intent.text))
  if (intent.type === "newline") return open(insert(reply, "\n"))
  if (intent.type === "edit") return open(edit(reply, intent.edit))
  if (intent.type !== "submit") return open(reply)
  const done = insert(reply, intent.text ?? "").text.trim()
  if (done === "" && dialog.options[dialog.selected]?.asksReply === "required") return open(reply)
  return {
    type: "answered",
    answer: { type: "chosen", index: dialog.selected, ...(done === "" ? {} : { reply: done }) },
  }
}
