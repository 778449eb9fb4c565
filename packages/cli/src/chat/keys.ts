/** Maps key presses to intents. The only module that knows keys; `/help` prints `KEYS`. */
import type { Key } from "ink"
import type { Edit } from "./editor.ts"

export type Intent =
  | { readonly type: "insert"; readonly text: string }
  | { readonly type: "edit"; readonly edit: Edit }
  /** Text and Enter in one chunk, as fast typing or another program sends them. */
  | { readonly type: "submit"; readonly text?: string }
  | { readonly type: "newline" }
  | { readonly type: "up" | "down" | "page-up" | "page-down" }
  | { readonly type: "escape" | "interrupt" | "leave" }
  | { readonly type: "next-mode" | "expand" | "complete" }
  | { readonly type: "undo" | "redo" | "search" | "cancel" }

export const KEYS: readonly (readonly [keys: string, meaning: string])[] = [
  ["Enter", "send, or queue while the agent works"],
  ["Alt-Enter, or \\ and Enter", "new line"],
  ["# and text", "remember the text for later conversations"],
  ["! and a command", "run it in the shell; the agent sees its output"],
  ["paste", "a long text becomes a label; it is sent in full"],
  ["@ and a path", "attach a file; Tab completes its name"],
  ["Up, Down", "earlier inputs"],
  ["Ctrl-R", "search earlier inputs"],
  ["Ctrl-_, Alt-Z", "undo, redo in the input line"],
  ["Esc", "close a menu; stop a command or the agent"],
  ["Esc twice", "clear the line; in an empty one: go back to a message"],
  ["Shift-Tab", "switch the permission mode"],
  ["Ctrl-O", "show the last folded item in full"],
  ["PgUp, PgDn, Space", "page through what a question shows"],
  ["Tab", "complete a command or a file"],
  ["Ctrl-C twice, Ctrl-D", "exit"],
]

const CONTROL: Readonly<Record<string, Intent>> = {
  a: { type: "edit", edit: "home" },
  b: { type: "edit", edit: "left" },
  c: { type: "interrupt" },
  d: { type: "leave" },
  e: { type: "edit", edit: "end" },
  f: { type: "edit", edit: "right" },
  g: { type: "cancel" },
  h: { type: "edit", edit: "backspace" },
  j: { type: "newline" },
  k: { type: "edit", edit: "delete-to-end" },
  n: { type: "down" },
  o: { type: "expand" },
  p: { type: "up" },
  r: { type: "search" },
  u: { type: "edit", edit: "delete-to-start" },
  w: { type: "edit", edit: "delete-word" },
  _: { type: "undo" },
}

const META: Readonly<Record<string, Intent>> = {
  b: { type: "edit", edit: "word-left" },
  f: { type: "edit", edit: "word-right" },
  z: { type: "redo" },
}

/** Control characters that are keys. Line ends and tabs are excluded, because they can be part of pasted text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the keys
const CONTROL_KEYS = /([\u0001-\u0008\u000b\u000c\u000e-\u001a\u001f])/

/** Fast key presses arrive in one chunk: this separates Ctrl-A from the letter after it. */
export function intentsOf(input: string, key: Key): readonly Intent[] {
  if (key.escape && key.meta && key.eventType !== "release") return [{ type: "escape" }, { type: "escape" }] // two presses in one chunk
  const pieces = input.length > 1 && !key.ctrl && !key.meta ? input.split(CONTROL_KEYS).filter(Boolean) : [input]
  return pieces.flatMap((piece) => (pieces.length > 1 ? controlIntent(piece) : undefined) ?? intentOf(piece, key) ?? [])
}

const FIRST_LETTER = 0x60 // Ctrl-A is 1, and "a" follows this code
const UNDO_KEY = "\u001f" // Ctrl-_; many terminals send it for Ctrl-/ too

function controlIntent(piece: string): readonly Intent[] | undefined {
  if (!CONTROL_KEYS.test(piece)) return undefined
  const intent = CONTROL[piece === UNDO_KEY ? "_" : String.fromCharCode(FIRST_LETTER + piece.charCodeAt(0))]
  return intent ? [intent] : []
}

export function intentOf(input: string, key: Key): Intent | undefined {
  if (key.eventType === "release") return undefined
  if (key.return) return key.meta || key.shift ? { type: "newline" } : { type: "submit" }
  if (key.escape) return { type: "escape" }
  if (key.tab) return key.shift ? { type: "next-mode" } : { type: "complete" }
  if (key.upArrow) return { type: "up" }
  if (key.downArrow) return { type: "down" }
  if (key.pageUp) return { type: "page-up" }
  if (key.pageDown) return { type: "page-down" }
  const edited = editOf(key)
  if (edited) return { type: "edit", edit: edited }
  if (key.ctrl || input === UNDO_KEY) return CONTROL[input === UNDO_KEY ? "_" : input]
  if (key.meta) return META[input]
  return typed(input)
}

function editOf(key: Key): Edit | undefined {
  const byWord = key.ctrl || key.meta
  if (key.backspace) return byWord ? "delete-word" : "backspace"
  if (key.delete) return "delete"
  if (key.leftArrow) return byWord ? "word-left" : "left"
  if (key.rightArrow) return byWord ? "word-right" : "right"
  if (key.home) return "home"
  if (key.end) return "end"
  return undefined
}

/**
 * A chunk that ends with Enter was typed and sent, perhaps before the chat was ready. Line ends inside a chunk mean it was pasted, so it is
 * not submitted. A line feed alone is Ctrl-J.
 */
function typed(input: string): Intent | undefined {
  if (input === "") return undefined
  if (input === "\n") return { type: "newline" }
  const text = withPlainEnds(input)
  const isSent = text.indexOf("\n") === text.length - 1
  return isSent ? { type: "submit", text: text.slice(0, -1) } : { type: "insert", text }
}

export const withPlainEnds = (text: string): string => text.replace(/\r\n?/g, "\n")
