/** Scripts of sed, given as a word. Only what GNU, BSD and busybox sed read alike passes, and only commands that print, delete or replace. */
import { Cursor } from "./cursor.ts"

/** In brackets a backslash is an ordinary sign: one before the closing bracket is read in two ways, and does not pass. */
const BRACKETS = String.raw`\[(?!\^?\])(?:\[:[a-z]+:\]|(?!\[[:.=])[^\]\\\n]|\\[^\]\n])*\]`
const ADDRESS = new RegExp(String.raw`\d+(?:~\d+)?|\$|[+~]\d+|/(?:[^/\\\n[]|\\[^\n]|${BRACKETS})*/[IM]*`, "y")
const END = String.raw`(?=[ \t]*(?:$|[;}\n]))`
/** Without text, file names or labels after them. */
const PLAIN_COMMAND = new RegExp(String.raw`(?:[pdPDnNhHgGxz=F]|[lqQ][ \t]*\d*)${END}`, "y")
const DELIMITERS = "[/|,#:@!%+=~]"
const CASE = new RegExp(String.raw`y(${DELIMITERS})(?:(?!\1)[^\\\n]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1${END}`, "y")
const REPLACEMENT = String.raw`(?:(?!\1)[^\\\n]|\\[\s\S])*\1`
const SUBSTITUTION = new RegExp(
  String.raw`s(${DELIMITERS})(?:(?!\1)[^\\\n[]|\\[^\n]|${BRACKETS})*\1${REPLACEMENT}`,
  "y",
)
/** The same for a sed that ends the pattern at a delimiter in brackets. */
const WITHOUT_BRACKETS = new RegExp(String.raw`s(${DELIMITERS})(?:(?!\1)[^\\\n]|\\[^\n])*\1${REPLACEMENT}`, "y")
const FLAGS = new RegExp(String.raw`[gpiIm\d]*${END}`, "y")
/** No sed takes these for a flag. */
const NO_FLAG = /[/|,:@!%+=~\]*$^.(\\]/

/** No `w`, `r`, `e`, no text, no labels. */
export function isHarmlessSed(script: string): boolean {
  const cursor = new Cursor(script)
  for (let depth = 0; ; ) {
    cursor.take(/[\s;]*/y)
    if (cursor.isAtEnd) return depth === 0
    if (cursor.take(/#[^\n]*/y) !== undefined) continue
    if (!takeAddresses(cursor)) return false
    cursor.take(/\s*!*\s*/y)
    if (cursor.take(/\{/y) !== undefined) depth++
    else if (cursor.take(/\}/y) !== undefined) depth--
    else if (!takeCommand(cursor)) return false
    if (depth < 0) return false
  }
}

function takeAddresses(cursor: Cursor): boolean {
  if (cursor.take(ADDRESS) === undefined) return true
  cursor.take(/\s*/y)
  if (cursor.take(/,\s*/y) === undefined) return true
  return cursor.take(ADDRESS) !== undefined
}

function takeCommand(cursor: Cursor): boolean {
  if (cursor.take(PLAIN_COMMAND) !== undefined || cursor.take(CASE) !== undefined) return true
  const other = cursor.at + (cursor.look(WITHOUT_BRACKETS)?.length ?? 0)
  if (cursor.take(SUBSTITUTION) === undefined) return false
  const areAlike = other === cursor.at || NO_FLAG.test(cursor.text[other] ?? "") // else the other reading is an error
  return areAlike && cursor.take(FLAGS) !== undefined
}
