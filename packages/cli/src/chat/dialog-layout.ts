/** Lays out a dialog in a window: its texts as rows, and the part of its body that fits. Pure. */
import { escapeToLine } from "../display/visible.ts"
import { type BodyRow, bodyRows } from "./body-rows.ts"
import type { Dialog, DialogBody, DialogNote, DialogOption } from "./dialog.ts"
import type { MarkdownLine } from "./markdown.ts"
import { markdownRows } from "./markdown-rows.ts"
import { wrapSpans } from "./wrap.ts"

export const FRAME_COLUMNS = 2 // a bar on the left and a space
export const OPTION_COLUMNS = 4 // the selection, the key, and spaces
const MAX_OPTIONS = 10 // rows; more are scrolled through
const MIN_OPTIONS = 3
const MAX_REPLY_ROWS = 4 // a longer reply pushes the body up
/**
 * Other rows: blank rows around dialog and body, the hint, the row counts, the status line, three rows of the conversation, one spare row.
 */
const OTHER_ROWS = { usual: 1 + 2 + 1 + 2 + 1 + 3 + 1, low: 1 + 2 + 1 + 1 }
const MIN_BODY_ROWS = { usual: 3, low: 1 }
const ROWS_OF_LOW_WINDOW = 20 // below this, there are no blank rows and no conversation next to a question

export interface WindowSize {
  readonly columns: number
  readonly rows: number
}

export const isLow = ({ rows }: Pick<WindowSize, "rows">): boolean => rows < ROWS_OF_LOW_WINDOW

export interface DialogLayout {
  readonly title: readonly string[]
  readonly why: readonly string[]
  readonly notes: readonly DialogNote[]
  /** The visible rows of the body. Absent if there is no body. */
  readonly body?: BodyPage
  readonly options: readonly OptionRows[]
  /** Number of options above the visible ones. */
  readonly optionsAbove: number
  readonly optionsBelow: number
}

export interface BodyPage {
  readonly rows: readonly DialogRow[]
  readonly top: number
  /** Number of rows per page. */
  readonly height: number
  readonly above: number
  readonly below: number
}

export type DialogRow =
  | { readonly form: "plain"; readonly row: BodyRow }
  | { readonly form: "markdown"; readonly row: MarkdownLine }

export interface OptionRows {
  readonly option: DialogOption
  readonly index: number
  /** The option's description, broken into rows. */
  readonly about: readonly string[]
}

export function layoutDialog(dialog: Dialog, window: WindowSize): DialogLayout {
  const columns = window.columns - FRAME_COLUMNS
  const title = wrappedTo(dialog.title, columns)
  const why = dialog.why === undefined ? [] : wrappedTo(dialog.why, columns)
  const notes = (dialog.notes ?? []).flatMap(({ text, tone }) =>
    wrappedTo(text, columns).map((row) => ({ text: row, tone })),
  )
  const size = isLow(window) ? "low" : "usual"
  const texts = title.length + why.length + notes.length
  const replyRows = dialog.reply ? MAX_REPLY_ROWS : 0
  const bodyRow = dialog.body ? MIN_BODY_ROWS[size] + replyRows : 0
  const room = window.rows - texts - OTHER_ROWS[size] - bodyRow
  const { options, optionsAbove, optionsBelow } = visibleOptions(dialog, { columns, room })
  const above = { title, why, notes, options, optionsAbove, optionsBelow }
  if (!dialog.body) return above
  const optionRows = Math.sign(optionsAbove) + Math.sign(optionsBelow) + rowsOf(options)
  const used = texts + optionRows + replyRows + OTHER_ROWS[size]
  const height = Math.max(MIN_BODY_ROWS[size], window.rows - used)
  return { ...above, body: pageOf(shownRows(dialog.body, columns), { top: dialog.top ?? 0, height }) }
}

function pageOf(
  all: readonly DialogRow[],
  { top: wanted, height }: { readonly top: number; readonly height: number },
): BodyPage {
  const top = Math.max(0, Math.min(wanted, all.length - height))
  const rows = all.slice(top, top + height)
  return { rows, top, height, above: top, below: all.length - top - rows.length }
}

/** Turns one page of the body, or of the options if there is no body. */
export function turnPage(
  dialog: Dialog,
  { direction, window }: { readonly direction: "up" | "down"; readonly window: WindowSize },
): Dialog {
  const { body, options } = layoutDialog(dialog, window)
  if (!body) {
    const moved = dialog.selected + (direction === "down" ? options.length : -options.length)
    return { ...dialog, selected: Math.max(0, Math.min(dialog.options.length - 1, moved)) }
  }
  const { height, above, below } = body
  const step = Math.max(1, height - 1) // one row overlaps, for orientation
  return { ...dialog, top: direction === "down" ? body.top + Math.min(step, below) : body.top - Math.min(step, above) }
}

/** Cache of the last body as rows, because every key draws it again. */
const rowCache = new WeakMap<DialogBody, { readonly columns: number; readonly rows: readonly DialogRow[] }>()

function shownRows(body: DialogBody, columns: number): readonly DialogRow[] {
  const known = rowCache.get(body)
  if (known?.columns === columns) return known.rows
  const rows: readonly DialogRow[] =
    body.form === "markdown"
      ? markdownRows(body.text, columns).map((row) => ({ form: "markdown", row }))
      : bodyRows(body, columns).map((row) => ({ form: "plain", row }))
  rowCache.set(body, { columns, rows })
  return rows
}

type OptionPage = Pick<DialogLayout, "options" | "optionsAbove" | "optionsBelow">

const rowsOf = (options: readonly OptionRows[]): number => options.reduce((sum, { about }) => sum + 1 + about.length, 0)

/** Number of rows that count hidden options: one above, one below. */
const overflowRows = (shown: readonly OptionRows[], all: number): number =>
  Math.sign(shown[0]!.index) + Math.sign(all - 1 - shown.at(-1)!.index)

/** The options around the selected one that fit, with complete descriptions. The body shrinks first. */
function visibleOptions(
  { options, selected, reply, body }: Dialog,
  { columns, room }: { readonly columns: number; readonly room: number },
): OptionPage {
  if (options.length === 1 && reply) return { options: [], optionsAbove: 0, optionsBelow: 0 }
  const max = body ? MAX_OPTIONS : Math.max(MIN_OPTIONS, Math.min(MAX_OPTIONS, room))
  const first = Math.max(0, Math.min(selected - max + 2, options.length - max))
  let shown: readonly OptionRows[] = options.slice(first, first + max).map((option, i) => ({
    option,
    index: first + i,
    about: option.about === undefined ? [] : wrappedTo(option.about, columns - OPTION_COLUMNS),
  }))
  while (body && shown.length > 1 && rowsOf(shown) + overflowRows(shown, options.length) > room)
    shown = shown.at(-1)!.index > selected ? shown.slice(0, -1) : shown.slice(1)
  const above = shown[0]!.index
  return { options: shown, optionsAbove: above, optionsBelow: options.length - above - shown.length }
}

function wrappedTo(text: string, columns: number): readonly string[] {
  return wrapSpans([{ text: escapeToLine(text) }], columns).map((row) => row.map((span) => span.text).join(""))
}
