/** A question with choices as a value: text, selection and key handling. Used for permissions, plans and lists. */
import { type Editor, EMPTY_EDITOR, edit, insert } from "./editor.ts"
import type { Intent } from "./keys.ts"

export interface Dialog {
  readonly id: string
  /** Who asks: the agent, which waits for the answer, a slash command, or background work, for which no query waits. */
  readonly from: "agent" | "command" | "background"
  /** Name of the sub-agent that asks. It runs independently of the query, so its question stays open when the query ends. */
  readonly agent?: string
  readonly title: string
  /** The reason for the question. */
  readonly why?: string
  /** Further information, one line each. */
  readonly notes?: readonly DialogNote[]
  /** The subject of the question: a diff, a plan, a command. */
  readonly body?: DialogBody
  /** First visible row of the body. Default: 0. */
  readonly top?: number
  /** Id of the tool call in question. While the dialog shows it, the conversation does not. */
  readonly call?: string
  readonly options: readonly DialogOption[]
  readonly selected: number
  /** Present while the user types a reply for the selected option. */
  readonly reply?: Editor
}

/** A question without the fields that the store adds. */
export type DialogDraft = Omit<Dialog, "id" | "selected" | "from"> & Partial<Pick<Dialog, "selected" | "from">>

export interface DialogNote {
  readonly text: string
  readonly tone: "plain" | "warning"
}

export interface DialogBody {
  readonly form: "diff" | "markdown" | "text"
  readonly text: string
  /** Unusual parts of the text. */
  readonly highlights?: readonly BodyHighlight[]
}

/** A highlighted range; `start` and `end` are offsets into the text. */
export interface BodyHighlight {
  readonly kind: string
  readonly start: number
  readonly end: number
}

export interface DialogOption {
  readonly label: string
  /** Short text after the label. */
  readonly hint?: string
  /** Description below the label, never truncated. */
  readonly about?: string
  /** Key that chooses this option. */
  readonly letter?: string
  /** Whether choosing this option asks for a typed reply. */
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

/** Index of the option for a key, by letter or number. */
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
