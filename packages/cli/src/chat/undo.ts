/** Undo history of the input line. Letters typed one by one are undone as a word. */
import type { Editor } from "./editor.ts"

const MAX_KEPT = 200 // changes

export interface UndoHistory {
  /** States before each change, oldest first. */
  readonly past: readonly Editor[]
  /** Undone states, the newest last. */
  readonly future: readonly Editor[]
  /** The last change, if further letters can be merged into it, and the cursor after it. */
  readonly open?: { readonly kind: LetterChange; readonly cursor: number }
}

type LetterChange = "typed" | "erased"

export const NO_CHANGES: UndoHistory = { past: [], future: [] }

export interface EditorChange {
  readonly before: Editor
  readonly after: Editor
}

export function recordChange({ past, future, open }: UndoHistory, change: EditorChange): UndoHistory {
  const { before, after } = change
  if (before.text === after.text) return { past, future } // the cursor moved, so the next letter starts a new change
  const kind = letterChange(change)
  const joins = kind !== undefined && open?.kind === kind && open.cursor === before.cursor && !beginsWord(change)
  return {
    past: joins ? past : [...past, before].slice(-MAX_KEPT),
    future: [],
    ...(kind === undefined ? {} : { open: { kind, cursor: after.cursor } }),
  }
}

/** One step back or forward; `undefined` at either end. */
export function stepUndo(
  { past, future }: UndoHistory,
  { editor, direction }: { readonly editor: Editor; readonly direction: "undo" | "redo" },
): { readonly undo: UndoHistory; readonly editor: Editor } | undefined {
  const found = direction === "undo" ? past.at(-1) : future.at(-1)
  if (!found) return undefined
  const undo =
    direction === "undo"
      ? { past: past.slice(0, -1), future: [...future, editor] }
      : { past: [...past, editor], future: future.slice(0, -1) }
  return { undo, editor: found }
}

/** The kind of change, if one letter was added or removed at the cursor. */
function letterChange({ before, after }: EditorChange): LetterChange | undefined {
  if ([...addedBy({ before, after })].length === 1) return "typed"
  return [...addedBy({ before: after, after: before })].length === 1 ? "erased" : undefined
}

function addedBy({ before: { text, cursor }, after }: EditorChange): string {
  const end = cursor + after.text.length - text.length
  const isInsertion = end > cursor && after.text.slice(0, cursor) + after.text.slice(end) === text
  return isInsertion ? after.text.slice(cursor, end) : ""
}

const beginsWord = ({ before: { text, cursor }, after }: EditorChange): boolean =>
  /^\s?$/.test(text.slice(cursor - 1, cursor)) && /\S/.test(after.text.slice(cursor, after.cursor))
