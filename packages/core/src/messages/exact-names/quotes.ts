/** Short quotes: a term, a title, a command in backticks. Strings of code and JSON are not quotes of a term. */

const CLOSING: ReadonlyMap<number, string> = new Map(
  Object.entries({
    '"': '"',
    "'": "'",
    "`": "`",
    "«": "»",
    "„": "“",
    "“": "”",
    "‘": "’",
    "「": "」",
    "『": "』",
    "《": "》",
    "【": "】",
    "‹": "›",
  }).map(([open, close]) => [open.charCodeAt(0), close] as const),
)
const LONGEST_QUOTE = 60 // characters
const MOST_WORDS = 8
const ASCII_QUOTES = "\"'"
const CODE_BEFORE = "=:([{,+|&?<>\\$/"
const CODE_AFTER = /^\s*(?::|=|\]|\}|\+|=>)/
const PLAIN_WORD = /^[a-z]{1,2}$|^[\d\s.,:%-]*$/

const UNSAFE = /[<>\\\p{Cc}]/u // tags, escapes and control characters belong to code

/** The characters between have no quote among them, and most characters of most texts are there. */
const MAY_BE_LETTER = { from: 0x61, to: 0xaa }

export const isQuote = (code: number): boolean =>
  (code < MAY_BE_LETTER.from || code > MAY_BE_LETTER.to) && CLOSING.has(code)

/** Where the next closing quote of each kind is, so that a text full of opening ones is read once. */
export type Closings = Map<string, number>

export interface QuotePlace {
  readonly text: string
  readonly closings: Closings
  readonly at: number
  /** Where the line starts and ends. */
  readonly start: number
  readonly end: number
}

/** The text in the quotes that open here, if it is a short term and not a string of code. */
export function quotedAt({ text, at, start, end, closings }: QuotePlace): string | undefined {
  const open = text[at]!
  const close = CLOSING.get(text.charCodeAt(at))!
  const closing = nextClosing({ text, at, close, closings })
  const length = closing - at - 1
  if (closing >= end || length < 2 || length > LONGEST_QUOTE) return undefined
  const inside = text.slice(at + 1, closing)
  if (inside !== inside.trim() || PLAIN_WORD.test(inside) || inside.split(/\s+/, MOST_WORDS + 1).length > MOST_WORDS)
    return undefined
  if (inside.includes(open) || UNSAFE.test(inside) || isName(inside)) return undefined
  if (open === "`") return text[at - 1] === "`" || text[closing + 1] === "`" ? undefined : inside
  if (!ASCII_QUOTES.includes(open)) return inside
  return isProse({ text, at, start, end }, closing + 1) ? inside : undefined
}

function nextClosing({
  text,
  at,
  close,
  closings,
}: Pick<QuotePlace, "text" | "at" | "closings"> & { close: string }): number {
  const known = closings.get(close) ?? -1
  if (known > at) return known
  const found = text.indexOf(close, at + 1)
  const next = found < 0 ? text.length : found
  closings.set(close, next)
  return next
}

/** One word with signs in it is found as a word. */
const isName = (inside: string): boolean => /^[\x21-\x7e]+$/.test(inside) && /[\d_./\\@:-]|[a-z][A-Z]/.test(inside)

/** Not a key or value of JSON, an argument or an attribute; and an apostrophe is no quote. */
function isProse({ text, at, start, end }: Omit<QuotePlace, "closings">, after: number): boolean {
  if (/[\p{L}\p{N}]/u.test(text[at - 1] ?? " ") || /[\p{L}\p{N}]/u.test(after < end ? text[after]! : " ")) return false
  let before = at - 1
  while (before >= start && before > at - 4 && (text[before] === " " || text[before] === "\t")) before--
  if (before < start)
    return (
      !/^\s*,?\s*$/.test(text.slice(after, Math.min(end, after + 3))) &&
      !CODE_AFTER.test(text.slice(after, Math.min(end, after + 3)))
    )
  return !CODE_BEFORE.includes(text[before]!) && !CODE_AFTER.test(text.slice(after, Math.min(end, after + 3)))
}
