/** Formats and escapes text: numbers and times for display, untrusted text for terminals, prompts, token counts. */
import { hash } from "node:crypto"
import { readFileSync } from "node:fs"

/** Created on first use, because that takes longer than loading the rest of the library's entry. */
let numberFormat: Intl.NumberFormat | undefined

/** Formats a whole number with separators: `12,345`. */
export function formatNumber(count: number): string {
  numberFormat ??= new Intl.NumberFormat("en-US")
  return numberFormat.format(Math.round(count))
}

/** Controls, bidi and zero-width characters, separators that break a line, unusual spaces, private and unassigned characters. */
const INVISIBLE = /(?! )[\p{C}\p{Zl}\p{Zp}\p{Zs}]/gu

/** Escapes every invisible character: ESC becomes `\u001b`. Line ends are escaped too. */
export function escapeInvisible(text: string): string {
  return text.replace(INVISIBLE, (character) =>
    Array.from({ length: character.length }, (_, at) => hex(character.charCodeAt(at))).join(""),
  )
}

const hex = (unit: number): string => `\\u${unit.toString(16).padStart(4, "0")}`

// Formats numbers, money and times for the program's screens and the lab's reports.

const K = 1_000
const M = 1_000_000
const MINUTE = 60_000

/** Abbreviates a number to at most five characters below a billion: `950`, `12.3K`, `167K`, `1.25M`. */
export function formatCompact(value: number): string {
  if (value < K) return String(Math.round(value))
  if (value < 99.95 * K) return `${(value / K).toFixed(1)}K`
  return value < 999.5 * K ? `${Math.round(value / K)}K` : `${(value / M).toFixed(value < 99.95 * M ? 2 : 0)}M`
}

/** Shows four decimals below a dollar, two above. */
export function formatDollars(value: number): string {
  const size = Math.abs(value)
  const amount = `$${size.toFixed(size < 1 ? 4 : 2)}`
  return value < 0 && Number(amount.slice(1)) > 0 ? `-${amount}` : amount
}

/** Shows an unknown price as `unknown`, never as $0. */
export const formatDollarsOrUnknown = (value: number | undefined): string =>
  value === undefined ? "unknown" : formatDollars(value)

export function formatPercent(part: number, whole: number): string {
  if (whole <= 0 || part <= 0) return "0%"
  const share = (100 * part) / whole
  return share < 0.5 ? "<1%" : `${Math.round(share)}%`
}

/** For example `1 file`, `3 files`. */
export const pluralize = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`

/** For example `40 ms`, `1.2 s`, `3:05`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`
  return formatClockTime(ms)
}

/** For example `0:07`, `12:30`. */
export function formatClockTime(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`
}

/** For example `<1 min`, `7 min`, `3 h`, `3 days`. */
export function formatPause(minutes: number): string {
  if (minutes < 1) return "<1 min"
  if (minutes < 120) return `${Math.round(minutes)} min`
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 60 / 24)} days`
}

const AGES: readonly (readonly [unit: string, ms: number])[] = [
  ["day", 24 * 60 * MINUTE],
  ["hour", 60 * MINUTE],
  ["minute", MINUTE],
]

/** For example `just now`, `5 minutes ago`. */
export function formatTimeAgo(then: Date, now: Date): string {
  const ms = now.getTime() - then.getTime()
  const age = AGES.find(([, unit]) => ms >= unit)
  return age ? `${pluralize(Math.floor(ms / age[1]), age[0])} ago` : "just now"
}

// Makes text from models, tools, files and servers safe for a terminal: every control or invisible character is replaced by a visible sign.
// Nothing is removed, so hidden text becomes readable: ESC appears as `␛`, U+202E as `<U+202E>`.

/** Emoji and some scripts need joiners and selectors. These are escaped only if they join nothing. */
const JOINED_EMOJI = String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\u{1f1e6}-\u{1f1ff}][\ufe0e\ufe0f]?)\u200d`
const JOINED_LETTER = String.raw`(?<=(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])[\p{L}\p{M}])[\u200c\u200d]`
const EMOJI_LOOK = String.raw`(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]`
const KEYCAP = String.raw`(?<=[#*0-9])\ufe0f(?=\u20e3)`
const HAN_FORM = String.raw`(?<=\p{Script=Han})[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]`
/** Mongolian free variation selectors and vowel separator, inside a word. */
const MONGOLIAN = String.raw`(?<=\p{Script=Mongolian})[\u180b-\u180f]`
const NEEDED = [JOINED_EMOJI, JOINED_LETTER, EMOJI_LOOK, KEYCAP, HAN_FORM, MONGOLIAN].join("|")

/** Controls, C1 controls, bidi controls, zero-width and tag characters, fillers, line separators, halves of a surrogate pair. */
const HIDDEN_CLASS = String.raw`\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Cs}\u2028\u2029\ufff9-\ufffb\u{13430}-\u{1343f}`
const HIDDEN = new RegExp(`[${HIDDEN_CLASS}]`, "gu")
const NEEDED_OR_HIDDEN = new RegExp(`(?<needed>${NEEDED})|[${HIDDEN_CLASS}]`, "gu")

/** Quick check: most text contains none of these characters. Tab and line feed are allowed. */
const SUSPECT = new RegExp(`(?![\\t\\n])[${HIDDEN_CLASS}]`, "u")

const FIRST_PICTURE = 0x2400 // U+2400 depicts U+0000, and so on up to U+001F
const DELETE = 0x7f
const DELETE_PICTURE = "\u2421"

/** Escapes text for a terminal. Line ends and tabs stay. Idempotent. */
export function escapeForTerminal(text: string): string {
  if (!SUSPECT.test(text)) return text
  return text.replaceAll("\r\n", "\n").replace(NEEDED_OR_HIDDEN, (found, needed: string | undefined) => {
    return needed !== undefined || found === "\n" || found === "\t" ? found : visibleSign(found)
  })
}

function visibleSign(hidden: string): string {
  const code = hidden.codePointAt(0)!
  if (code < 0x20) return String.fromCodePoint(FIRST_PICTURE + code)
  return code === DELETE ? DELETE_PICTURE : `<U+${hexOf(code)}>`
}

const hexOf = (code: number): string => code.toString(16).toUpperCase().padStart(4, "0")

/** Escape sequences for colors: parameters and one final character, never words, so removing them hides nothing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequence starts with one
const CSI = /\u001b\[[0-9;:<=>?]*[ -/]*[@-~]/g
const BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g

/** Escapes text to one line, for titles, names and lists. */
export function escapeToLine(text: string): string {
  return escapeForTerminal(text.replace(CSI, "").replace(BREAKS, " "))
}

/** Lossless JSON in which every invisible character is an escape. */
export function jsonForTerminal(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, undefined, indent)
  return text.replace(HIDDEN, (found) => (found === "\n" ? found : unicodeEscapes(found)))
}

const unicodeEscapes = (found: string): string =>
  Array.from({ length: found.length }, (_, i) => `\\u${found.charCodeAt(i).toString(16).padStart(4, "0")}`).join("")

/** How many preceding characters affect a chunk's first one: an emoji and its selector. */
const CONTEXT = 4

/** Escapes a stream chunk by chunk. A letter or line end that is split between two chunks comes out intact. */
export function terminalEscaper(): (piece: string) => string {
  let before = ""
  let held = ""
  return (piece) => {
    const all = held + piece
    held = /(?:\r|\ufe0f|[\ud800-\udbff])$/.exec(all)?.[0] ?? ""
    const text = held === "" ? all : all.slice(0, -held.length)
    const shown = escapeForTerminal(before + text).slice(escapeForTerminal(before).length)
    before = contextAfter(before + text)
    return shown
  }
}

/** The end of the text, as context for the next chunk. It never starts inside a letter. */
function contextAfter(text: string): string {
  const end = text.slice(-CONTEXT)
  return /^[\udc00-\udfff]/.test(end) ? end.slice(1) : end
}

// The key of a uuid in the index: its 16 bytes, or a hash of an id with another form.

export const KEY_BYTES = 16

const DAMAGED = "damaged:"

/** The id of a line whose own id cannot be read, made from its offset. */
export const damagedId = (offset: number): string => `${DAMAGED}${offset}`

export function uuidKey(uuid: string): Buffer {
  if (uuid.startsWith(DAMAGED)) {
    const key = Buffer.alloc(KEY_BYTES)
    key.writeDoubleLE(Number(uuid.slice(DAMAGED.length)), KEY_BYTES / 2)
    return key
  }
  const hex = uuid.replaceAll("-", "")
  return /^[0-9a-f]{32}$/.test(hex) ? Buffer.from(hex, "hex") : hash("sha256", uuid, "buffer").subarray(0, KEY_BYTES)
}

// Prompts: markdown files next to the code that uses them, with `{{placeholders}}`.
//
// Pass a literal, `new URL("./prompt.md", import.meta.url)`: the build replaces the entire call with the text, so an installed or bundled
// package reads no file.

export function promptText(file: URL): string {
  return readFileSync(file, "utf8")
}

/** Placeholders without a value stay as they are. */
export function fillPrompt(text: string, values: Readonly<Record<string, string>>): string {
  // one pass with a replacement function, so that neither placeholders nor patterns inside a value are interpreted
  return text.replace(/\{\{([a-z_]+)\}\}/g, (place, name: string) =>
    Object.hasOwn(values, name) ? values[name]! : place,
  )
}

/** Tokens of one or more responses, by billing category. */
export interface TokenCounts {
  readonly input: number
  readonly output: number
  readonly cacheWrite5m: number
  readonly cacheWrite1h: number
  readonly cacheRead: number
}

export const NO_TOKENS: TokenCounts = { input: 0, output: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 }

const KEYS = ["input", "output", "cacheWrite5m", "cacheWrite1h", "cacheRead"] as const

function combine(value: (key: keyof TokenCounts) => number): TokenCounts {
  return {
    input: value("input"),
    output: value("output"),
    cacheWrite5m: value("cacheWrite5m"),
    cacheWrite1h: value("cacheWrite1h"),
    cacheRead: value("cacheRead"),
  }
}

export function addCounts(a: TokenCounts, b: TokenCounts): TokenCounts {
  return combine((key) => a[key] + b[key])
}

export function subtractCounts(a: TokenCounts, b: TokenCounts): TokenCounts {
  return combine((key) => a[key] - b[key])
}

export function divideCounts(counts: TokenCounts, by: number): TokenCounts {
  return combine((key) => counts[key] / by)
}

export function roundCounts(counts: TokenCounts): TokenCounts {
  return combine((key) => Math.round(counts[key]))
}

/** The sum of the counts, each multiplied by its weight. */
export function weighCounts(counts: TokenCounts, weights: Readonly<Record<keyof TokenCounts, number>>): number {
  return KEYS.reduce((sum, key) => sum + counts[key] * weights[key], 0)
}

/** All input tokens of a request, cached or not. */
export function inputTokens(counts: TokenCounts): number {
  return counts.input + counts.cacheWrite5m + counts.cacheWrite1h + counts.cacheRead
}
