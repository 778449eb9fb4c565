/**
 * Exact names in a text, which a paraphrase would lose: identifiers, paths, numbers, hashes, addresses, versions, flags, error codes,
 * tickets and short quotes, in any script. Ordinary words are not names. Dumps, base64, minified code and the times of log lines are
 * left out. Reads the text once, in linear time.
 */
import { classify, isJoiner, isLineBreak, isWordBreak, WORD } from "./exact-names/classify.ts"
import type { ExactName, NameKind } from "./exact-names/name.ts"

// Lines and prefixes of lines without names: dumps, minified code, progress bars, times of log lines, line numbers of listings.

interface Line {
  readonly text: string
  readonly at: number
  readonly end: number
}

const HEAD = 120 // characters of a line that the patterns are applied to
const LONG_LINE = 1_000 // characters; longer lines of prose and code contain blanks
const MIN_BLANKS = 1 / 12 // share of blanks in a long line: one in six characters in prose, one in thirty in minified code

const NOISE: readonly RegExp[] = [
  /^(?:[0-9a-fA-F]{4,16}[:\s]\s*)?(?:[0-9a-fA-F]{2}[\s:]){7}/, // hex dump in pairs
  /^[0-9a-fA-F]{4,16}[:\s]\s*(?:[0-9a-fA-F]{4}\s){4}/, // hex dump in fours
  /^@@ -\d/, // hunk of a diff
  /^index [0-9a-f]{7,}\.\.[0-9a-f]{7,}/, // blobs of a diff
  /^"?integrity"?[:\s]/, // lock file
  /^\S+ \S+(?:\/go\.mod)? h1:/, // go.sum
  /^--hash=sha\d+:/, // requirements.txt
  /[=#.━█▓▒░⣿■▰>-]{6}.{0,60}\d%|\d%.{0,40}[=#━█▓▒░⣿■▰]{6}/, // progress bar
]

const MIN_LINE_LENGTH = 8 // characters; every pattern needs at least as many

export function isNoise({ text, at, end }: Line): boolean {
  if (end - at < MIN_LINE_LENGTH) return false
  const head = text.slice(at, Math.min(end, at + HEAD)).trimStart()
  return NOISE.some((pattern) => pattern.test(head)) || isMinified({ text, at, end })
}

/**
 * Whether a line is long and has few blanks. JSON is excluded, because it contains names. Letters of scripts without blanks count as
 * blanks.
 */
function isMinified({ text, at, end }: Line): boolean {
  const length = end - at
  if (length < LONG_LINE || /^\s*[{[]\s*["{[]/.test(text.slice(at, at + 20))) return false
  let blanks = 0
  for (let each = at; each < end; each++) {
    const code = text.charCodeAt(each)
    if (code <= 0x20 || code >= 0x3000) blanks++
  }
  return blanks < length * MIN_BLANKS
}

const TIME = String.raw`\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?`
const PREFIXES: readonly RegExp[] = [
  new RegExp(String.raw`^[\s[(]*\d{4}[-/]\d\d[-/]\d\d[T ]${TIME}(?:Z| ?[+-]\d\d:?\d\d)?[\])]?`), // log line, date and time
  new RegExp(String.raw`^[\s[(]*${TIME}[\])]?(?=\s|$)`), // log line, time
  new RegExp(String.raw`^[\s[(]*[A-Z][a-z]{2} {1,2}\d{1,2} ${TIME}`), // syslog
  /^\s*\d{1,7}(?:\t|→| ?[|│] |[:-](?=\s|\S*\s))/, // numbered line of a file listing or of a search
  /^[-dlbcps][rwxsStT-]{9}[.+@]?\s.*?(?:\d\d:\d\d|\s\d{4})\s/, // ls -l: all but the name
]

const MAY_BEGIN = /[\dA-Zdlbcps-]/ // first characters of the prefixes, after blanks and brackets

/** Offset at which a line's own text starts, after times and line numbers. */
export function contentStart({ text, at, end }: Line): number {
  let first = at
  while (first < end && first < at + HEAD && " \t[(".includes(text[first]!)) first++
  if (!MAY_BEGIN.test(text[first] ?? "")) return at
  const head = text.slice(at, Math.min(end, at + HEAD))
  for (const pattern of PREFIXES) {
    const match = pattern.exec(head)
    if (match) return at + match[0].length
  }
  return at
}

// Short quotes: a term, a title, a command in backticks. String literals of code and JSON do not count.

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
const MAX_QUOTE = 60 // characters
const MAX_WORDS = 8
const ASCII_QUOTES = "\"'"
const CODE_BEFORE = "=:([{,+|&?<>\\$/"
const CODE_AFTER = /^\s*(?::|=|\]|\}|\+|=>)/
const PLAIN_WORD = /^[a-z]{1,2}$|^[\d\s.,:%-]*$/

const UNSAFE = /[<>\\\p{Cc}]/u // tags, escapes and control characters indicate code

/** No character in this range is a quote, and most characters of most texts are in it. */
const MAY_BE_LETTER = { from: 0x61, to: 0xaa }

export const isQuote = (code: number): boolean =>
  (code < MAY_BE_LETTER.from || code > MAY_BE_LETTER.to) && CLOSING.has(code)

/** Offset of the next closing quote of each kind, so that a text with many opening quotes is scanned only once. */
export type Closings = Map<string, number>

export interface QuotePosition {
  readonly text: string
  readonly closings: Closings
  readonly at: number
  /** Offsets at which the line starts and ends. */
  readonly start: number
  readonly end: number
}

/** The text inside the quotes that open here, if it is a short term and not a string literal. */
export function quotedAt({ text, at, start, end, closings }: QuotePosition): string | undefined {
  const open = text[at]!
  const close = CLOSING.get(text.charCodeAt(at))!
  const closing = nextClosing({ text, at, close, closings })
  const length = closing - at - 1
  if (closing >= end || length < 2 || length > MAX_QUOTE) return undefined
  const inside = text.slice(at + 1, closing)
  if (inside !== inside.trim() || PLAIN_WORD.test(inside) || inside.split(/\s+/, MAX_WORDS + 1).length > MAX_WORDS)
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
}: Pick<QuotePosition, "text" | "at" | "closings"> & { close: string }): number {
  const known = closings.get(close) ?? -1
  if (known > at) return known
  const found = text.indexOf(close, at + 1)
  const next = found < 0 ? text.length : found
  closings.set(close, next)
  return next
}

/** Whether a quote is a single word with punctuation in it. The word scanner already finds it. */
const isName = (inside: string): boolean => /^[\x21-\x7e]+$/.test(inside) && /[\d_./\\@:-]|[a-z][A-Z]/.test(inside)

/** Whether a quote belongs to prose: it is not a key or value of JSON, an argument, an attribute or an apostrophe. */
function isProse({ text, at, start, end }: Omit<QuotePosition, "closings">, after: number): boolean {
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

export type { ExactName, NameKind }

const MAX_NAMES = 2_000
const MAX_WORD = 200 // characters; longer ones are data, not names
const MAX_LONG_HASHES = 8 // uuids and sha256 sums in one text; more indicate a dump or a lock file
const LONG_HASH = 32 // characters

/** Distinct names in order of first occurrence, at most `max`. */
export function exactNamesIn(text: string, max = MAX_NAMES): readonly ExactName[] {
  const found = new Map<string, NameKind>()
  const closings: Closings = new Map()
  for (let at = 0; at < text.length && found.size < max; ) {
    let end = at
    while (end < text.length && !isLineBreak(text.charCodeAt(end))) end++
    readLine({ text, at, end, max, closings }, found)
    at = end + 1
  }
  return withoutHashDumps(found)
}

interface LineScan {
  readonly text: string
  readonly at: number
  readonly end: number
  readonly max: number
  readonly closings: Closings
}

function readLine({ text, at: begin, end, max, closings }: LineScan, found: Map<string, NameKind>): void {
  if (begin === end || isNoise({ text, at: begin, end })) return
  const start = contentStart({ text, at: begin, end })
  const add = ({ name, kind }: ExactName) => {
    if (!found.has(name)) found.set(name, kind)
  }
  let at = start
  while (at < end && found.size < max) {
    const code = text.charCodeAt(at)
    if (isQuote(code)) {
      const quoted = quotedAt({ text, at, start: begin, end, closings })
      if (quoted !== undefined) add({ name: quoted, kind: "quoted" })
      at++ // words inside the quotes are scanned as well
    } else if (isWordBreak(code)) at = code === ESCAPE ? afterEscape(text, at) : at + 1
    else {
      const word = wordAt({ text, at, end })
      if (word.end - at <= MAX_WORD)
        for (const name of classify({
          text,
          at,
          end: word.end,
          lineStart: start,
          lineEnd: end,
          features: word.features,
        }))
          add(name)
      at = word.end
    }
  }
}

const ESCAPE = 0x1b
const SLASH = 0x2f
const AFTER_ADDRESS = new Set([..."\"'`<>()[]{}|^\\"].map((character) => character.charCodeAt(0)))

/** Offset at which an address ends. Punctuation that ends other words does not end it. */
function endOfAddress(text: string, at: number, end: number): number {
  let to = at
  while (to < end) {
    const code = text.charCodeAt(to)
    if (code <= 0x20 || code >= 0x2000 || AFTER_ADDRESS.has(code)) break
    to++
  }
  return to
}

/** Offset after a colour or cursor escape of a terminal. */
function afterEscape(text: string, at: number): number {
  if (text[at + 1] !== "[") return at + 1
  let end = at + 2
  while (end < text.length && end < at + 24 && /[\d;?]/.test(text[end]!)) end++
  return end + 1
}

/** The end of the word that starts here, and the kinds of characters in it. The features show at once that most words are ordinary. */
function wordAt({ text, at, end }: Pick<LineScan, "text" | "at" | "end">): {
  readonly end: number
  readonly features: number
} {
  let features = 0
  let to = at
  for (; to < end; to++) {
    const code = text.charCodeAt(to)
    if (isWordBreak(code) && !isJoiner(text, to)) break
    features |= WORD.featureOf(code, to === at)
    if (code === SLASH && text.startsWith("://", to - 1)) return { end: endOfAddress(text, to, end), features }
  }
  return { end: to, features }
}

function withoutHashDumps(found: ReadonlyMap<string, NameKind>): readonly ExactName[] {
  const names = [...found].map(([name, kind]) => ({ name, kind }))
  const isLongHash = ({ name, kind }: ExactName) => kind === "hash" && name.length >= LONG_HASH
  return names.filter(isLongHash).length > MAX_LONG_HASHES ? names.filter((name) => !isLongHash(name)) : names
}
