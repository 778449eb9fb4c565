/** Where a dialog's parts go in a window: its texts as rows, and the part of its body that fits. Pure. */
import { printable } from "../display/visible.ts"
import { type BodyRow, bodyRows } from "./body-rows.ts"
import type { Dialog, DialogBody, DialogNote, DialogOption } from "./dialog.ts"
import type { MarkdownLine } from "./markdown.ts"
import { markdownRows } from "./markdown-rows.ts"
import { wrapSpans } from "./wrap.ts"

export const FRAME_COLUMNS = 2 // a bar on the left and a space
export const OPTION_COLUMNS = 4 // the selection, the key, and spaces
const MOST_OPTIONS = 10 // rows; more are scrolled through
const MOST_REPLY_ROWS = 4 // a longer reply pushes the body up
const LEAST_BODY_ROWS = 3
/** Blank rows around the dialog and its body, the hint, the count of rows left, the status line, three rows of the conversation, one to spare. */
const OTHER_ROWS = 1 + 2 + 1 + 2 + 1 + 3 + 1

export interface Window {
  readonly columns: number
  readonly rows: number
}

export interface DialogLayout {
  readonly title: readonly string[]
  readonly why: readonly string[]
  readonly notes: readonly DialogNote[]
  /** The rows of the body to show; absent without a body. */
  readonly body?: BodyPage
  readonly options: readonly OptionRows[]
}

export interface BodyPage {
  readonly rows: readonly ShownRow[]
  readonly top: number
  /** Rows that a page holds. */
  readonly height: number
  readonly above: number
  readonly below: number
}

export type ShownRow =
  | { readonly form: "plain"; readonly row: BodyRow }
  | { readonly form: "markdown"; readonly row: MarkdownLine }

export interface OptionRows {
  readonly option: DialogOption
  readonly index: number
  /** Its sentence, broken into rows. */
  readonly about: readonly string[]
}

export function layoutOf(dialog: Dialog, window: Window): DialogLayout {
  const columns = window.columns - FRAME_COLUMNS
  const title = wrappedTo(dialog.title, columns)
  const why = dialog.why === undefined ? [] : wrappedTo(dialog.why, columns)
  const notes = (dialog.notes ?? []).flatMap(({ text, tone }) =>
    wrappedTo(text, columns).map((row) => ({ text: row, tone })),
  )
  const options = optionsOf(dialog, columns)
  const above = { title, why, notes, options }
  if (!dialog.body) return above
  const optionRows = options.reduce((sum, { about }) => sum + 1 + about.length, 0)
  const replyRows = dialog.reply ? MOST_REPLY_ROWS : 0
  const used = title.length + why.length + notes.length + optionRows + replyRows + OTHER_ROWS
  const height = Math.max(LEAST_BODY_ROWS, window.rows - used)
  return { ...above, body: pageOf(shownRows(dialog.body, columns), { top: dialog.top ?? 0, height }) }
}

function pageOf(
  all: readonly ShownRow[],
  { top: wanted, height }: { readonly top: number; readonly height: number },
): BodyPage {
  const top = Math.max(0, Math.min(wanted, all.length - height))
  const rows = all.slice(top, top + height)
  return { rows, top, height, above: top, below: all.length - top - rows.length }
}

/** The dialog one page further down or up. */
export function turned(
  dialog: Dialog,
  { direction, window }: { readonly direction: "up" | "down"; readonly window: Window },
): Dialog {
  const { body } = layoutOf(dialog, window)
  if (!body) return dialog
  const { height, above, below } = body
  const step = Math.max(1, height - 1) // one row stays, so that the eye finds its place
  return { ...dialog, top: direction === "down" ? body.top + Math.min(step, below) : body.top - Math.min(step, above) }
}

/** The last body that was broken into rows: every key draws the same one again. */
const broken = new WeakMap<DialogBody, { readonly columns: number; readonly rows: readonly ShownRow[] }>()

function shownRows(body: DialogBody, columns: number): readonly ShownRow[] {
  const known = broken.get(body)
  if (known?.columns === columns) return known.rows
  const rows: readonly ShownRow[] =
    body.form === "markdown"
      ? markdownRows(body.text, columns).map((row) => ({ form: "markdown", row }))
      : bodyRows(body, columns).map((row) => ({ form: "plain", row }))
  broken.set(body, { columns, rows })
  return rows
}

function optionsOf({ options, selected, reply }: Dialog, columns: number): readonly OptionRows[] {
  if (options.length === 1 && reply) return []
  const first = Math.max(0, Math.min(selected - MOST_OPTIONS + 2, options.length - MOST_OPTIONS))
  return options.slice(first, first + MOST_OPTIONS).map((option, i) => ({
    option,
    index: first + i,
    about: option.about === undefined ? [] : wrappedTo(option.about, columns - OPTION_COLUMNS),
  }))
}

function wrappedTo(text: string, columns: number): readonly string[] {
  return wrapSpans([{ text: printable(text) }], columns).map((row) => row.map((span) => span.text).join(""))
}
