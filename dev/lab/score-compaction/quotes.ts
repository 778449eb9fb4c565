/**
 * Finds quotes of the user in a text: entries of its list of the user's messages, and quoted text on a line that names the
 * user first. It goes by layout, so it misses unquoted text.
 */
import { plain } from "./find-in-text.ts"

export interface UserQuotes {
  /** Quotes in a section about the user's messages. */
  readonly listed: readonly string[]
  readonly inline: readonly string[]
}

const LIST_TITLE = /^\s*(?:#+ |\d+[.)] )?\**(?:all )?(?:user.?s? messages|what the user said)\b/i
const FENCE = /^(`{3,}|~{3,})[\w-]*$/
const BULLET = /^\s*(?:[-*]|\d+[.)])\s+/
const NAMES_USER = /\buser(?:'s)?\b/i
const QUOTED = /(?<!\\)"([^"\n]+)(?<!\\)"|“([^”\n]+)”/g // escaped quotes belong to a command or to code
const SHORTEST = 12 // in characters; shorter ones are often quoted names
const LEFT_OUT = /\s*(?:\[[^\]]*\]|\.{3,}|…)\s*/ // an omission in a quote, perhaps with a note in brackets

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
      list = LIST_TITLE.test(line) ? titleAfter(line) : undefined
    } else if (list) {
      if (BULLET.test(line)) closeEntry()
      entry.push(line)
    } else if (LIST_TITLE.test(line)) list = titleAfter(line)
    else inline.push(...attributedIn(line))
  }
  closeEntry()
  return { listed: longEnough(listed), inline: longEnough(inline) }
}

/** Whether the user wrote a quote: completely, or each part if it has omissions. `text` must be plain. */
export function isQuoted(quote: string, text: string): boolean {
  const pieces = plain(quote)
    .split(LEFT_OUT)
    .map((piece) => piece.replace(/[.,;:!?]+$/, "").toLowerCase())
  return pieces.every((piece) => text.includes(piece))
}

/** The next title of the same kind: a number for a number, hashes for hashes. */
function titleAfter(title: string): RegExp {
  const [, indent = "", mark = ""] = /^(\s*)(#+ |\d+[.)] )?/.exec(title)!
  if (mark.startsWith("#")) return new RegExp(`^#{1,${mark.trim().length}} `)
  const number = Number.parseInt(mark, 10)
  return Number.isNaN(number) ? /^\s*\*\*|^#+ |^<\// : new RegExp(`^\\s{0,${indent.length}}${number + 1}[.)] |^#+ |^<`)
}

/** Quotes of an entry, which is one quote from its first quotation mark to its last, or contains several. */
function quotedIn(entry: string): readonly string[] {
  const whole = /^\s*(?:[-*]|\d+[.)])?\s*\**["“]([\s\S]*)["”][\s.*]*$/.exec(entry)?.[1]
  if (whole !== undefined && !/["“”]/.test(whole)) return [whole]
  return quotations(entry)
}

function attributedIn(line: string): readonly string[] {
  const at = line.search(NAMES_USER)
  return at < 0 ? [] : quotations(line.slice(at))
}

const quotations = (text: string): string[] =>
  [...text.matchAll(QUOTED)].map(([, straight, curly]) => straight ?? curly!)
const longEnough = (quotes: readonly string[]) => quotes.filter((quote) => plain(quote).length >= SHORTEST)
