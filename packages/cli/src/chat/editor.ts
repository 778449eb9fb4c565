/** The input line as a value: text, cursor and editing keys. A letter is a grapheme or the label of a pasted text. */
import { labelAround } from "./paste-label.ts"

export interface Editor {
  readonly text: string
  /** Offset between 0 and the text's length, never inside a letter. */
  readonly cursor: number
}

export const EMPTY_EDITOR: Editor = { text: "", cursor: 0 }

export type Edit =
  | "backspace"
  | "delete"
  | "delete-word"
  | "delete-to-start"
  | "delete-to-end"
  | "left"
  | "right"
  | "word-left"
  | "word-right"
  | "home"
  | "end"

const letters = new Intl.Segmenter()

/** An editor with the cursor at the end. */
export function editorWith(text: string): Editor {
  return { text, cursor: text.length }
}

export function insert({ text, cursor }: Editor, added: string): Editor {
  return { text: text.slice(0, cursor) + added + text.slice(cursor), cursor: cursor + added.length }
}

export function edit(editor: Editor, change: Edit): Editor {
  const { text, cursor } = editor
  switch (change) {
    case "backspace":
      return cut(editor, { from: letterBefore(editor), to: cursor })
    case "delete":
      return cut(editor, { from: cursor, to: letterAfter(editor) })
    case "delete-word":
      return cut(editor, { from: wordBefore(editor), to: cursor })
    case "delete-to-start":
      return cut(editor, { from: lineStart(editor), to: cursor })
    case "delete-to-end":
      return cut(editor, { from: cursor, to: lineEnd(editor) })
    case "left":
      return { text, cursor: letterBefore(editor) }
    case "right":
      return { text, cursor: letterAfter(editor) }
    case "word-left":
      return { text, cursor: wordBefore(editor) }
    case "word-right":
      return { text, cursor: wordAfter(editor) }
    case "home":
      return { text, cursor: lineStart(editor) }
    case "end":
      return { text, cursor: lineEnd(editor) }
  }
}

/** Moves one line up or down, to the same column if possible; `undefined` if there is no such line. */
export function moveLine(editor: Editor, direction: "up" | "down"): Editor | undefined {
  const { text } = editor
  const start = lineStart(editor)
  const column = editor.cursor - start
  if (direction === "up") {
    if (start === 0) return undefined
    const above = lineStart({ text, cursor: start - 1 })
    return placeCursor({ text, cursor: Math.min(above + column, start - 1) })
  }
  const end = lineEnd(editor)
  if (end === text.length) return undefined
  return placeCursor({ text, cursor: Math.min(end + 1 + column, lineEnd({ text, cursor: end + 1 })) })
}

/** Moves a cursor inside a letter to its start. */
function placeCursor({ text, cursor }: Editor): Editor {
  const label = labelAround(text, cursor)
  return { text, cursor: label?.start ?? letters.segment(text).containing(cursor)?.index ?? cursor }
}

function cut({ text }: Editor, { from, to }: { from: number; to: number }): Editor {
  return { text: text.slice(0, from) + text.slice(to), cursor: from }
}

function letterBefore({ text, cursor }: Editor): number {
  if (cursor === 0) return 0
  const label = labelAround(text, cursor, "end")
  if (label) return label.start
  return letters.segment(text).containing(cursor - 1)!.index
}

function letterAfter({ text, cursor }: Editor): number {
  const label = labelAround(text, cursor, "start")
  if (label) return label.end
  const letter = letters.segment(text).containing(cursor)
  return letter ? letter.index + letter.segment.length : text.length
}

function wordBefore({ text, cursor }: Editor): number {
  const start = /\S*\s*$/.exec(text.slice(0, cursor))!.index
  return labelAround(text, start)?.start ?? start
}

function wordAfter({ text, cursor }: Editor): number {
  const end = cursor + /^\s*\S*/.exec(text.slice(cursor))![0].length
  return labelAround(text, end)?.end ?? end
}

const lineStart = ({ text, cursor }: Editor): number => text.lastIndexOf("\n", cursor - 1) + 1

function lineEnd({ text, cursor }: Editor): number {
  const at = text.indexOf("\n", cursor)
  return at < 0 ? text.length : at
}
