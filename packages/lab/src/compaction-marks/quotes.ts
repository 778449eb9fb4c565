/**
 * What a text says the user said, word for word: the entries of its list of the user's messages, and pieces in quotation marks on a line
 * that names the user before them. Found by how it is laid out, so a quotation without marks is not seen.
 */
import { plain } from "./find-in-text.ts"

export interface UserQuotes {
  /** In a section about the user's messages. */
  readonly listed: readonly string[]
  readonly inline: readonly string[]
}

const LIST_TITLE = /^\s*(?:#+ |\d+[.)] )?\**(?:all )?(?:user.?s? messages|what the user said)\b/i
const FENCE = /^(`{3,})[\w-]*$/
const BULLET = /^\s*(?:[-*]|\d+[.)])\s+/
const NAMES_USER = /\buser(?:'s)?\b/i
const IN_MARKS = /"([^"\n]+)"|“([^”\n]+)”/g
const SHORTEST = 12 // characters: less is a name in quotation marks as often as something said
const LEFT_OUT = /\s*(?:\[[^\]]*\]|\.{3,}|…)\s*/ // where a quotation leaves something out, or says in brackets what

export function userQuotesIn(text: string): UserQuotes {
  const listed: string[] = []
  const inline: string[] = []
  let list: RegExp | undefined // matches the title that ends the list
  let fence: { readonly mark: string; readonly lines: string[] } | undefined
  let entry: string[] = []
  const closeEntry = () => {
    listed.push(...quotedIn(entry.join("\n")))
    entry = []
  }
  for (const line of text.split("\n")) {
    const mark = FENCE.exec(line.trim())?.[1]
    if (fence) {
      if (mark !== fence.mark) fence.lines.push(line)
      else {
        if (list) listed.push(fence.lines.join("\n"))
        fence = undefined
      }
    } else if (mark) fence = { mark, lines: [] }
    else if (list?.test(line)) {
      closeEntry()
      list = LIST_TITLE.test(line) ? titleBehind(line) : undefined
    } else if (list) {
      if (BULLET.test(line)) closeEntry()
      entry.push(line)
    } else if (LIST_TITLE.test(line)) list = titleBehind(line)
    else inline.push(...attributedIn(line))
  }
  closeEntry()
  return { listed: longEnough(listed), inline: longEnough(inline) }
}

/** Whether a quotation is in what was said: as it is, or piece by piece where it leaves something out. `said` is plain. */
export function wasSaid(quote: string, said: string): boolean {
  const pieces = plain(quote)
    .split(LEFT_OUT)
    .map((piece) => piece.replace(/[.,;:!?]+$/, "").toLowerCase())
  return pieces.every((piece) => said.includes(piece))
}

/** The next title of the same kind: a number for a number, hashes for hashes. */
function titleBehind(title: string): RegExp {
  const [, indent = "", mark = ""] = /^(\s*)(#+ |\d+[.)] )?/.exec(title)!
  if (mark.startsWith("#")) return new RegExp(`^#{1,${mark.trim().length}} `)
  const number = Number.parseInt(mark, 10)
  return Number.isNaN(number) ? /^\s*\*\*|^#+ |^<\// : new RegExp(`^\\s{0,${indent.length}}${number + 1}[.)] |^#+ |^<`)
}

/** An entry quotes as a whole, from its first mark to its last, or in several pieces. */
function quotedIn(entry: string): readonly string[] {
  const whole = /^\s*(?:[-*]|\d+[.)])?\s*\**["“]([\s\S]*)["”][\s.*]*$/.exec(entry)?.[1]
  if (whole !== undefined && !/["“”]/.test(whole)) return [whole]
  return inMarks(entry)
}

function attributedIn(line: string): readonly string[] {
  const at = line.search(NAMES_USER)
  return at < 0 ? [] : inMarks(line.slice(at))
}

const inMarks = (text: string): string[] =>
  [...text.matchAll(IN_MARKS)].map(([, straight, curly]) => straight ?? curly!)
const longEnough = (quotes: readonly string[]) => quotes.filter((quote) => plain(quote).length >= SHORTEST)
