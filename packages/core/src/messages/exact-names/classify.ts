/** Classifies a word as a kind of name, if it is one. A word is a run without blanks, brackets, quotes and commas. */
import type { ExactName, NameKind } from "./name.ts"

// Character classes: line breaks, word breaks, and characters that only seem to break a word.

/** By character code: 1 for ASCII characters that never belong to a name. */
const BREAKS = new Uint8Array(0x80).fill(1, 0, 0x21)
for (const character of "\u007f\"'`<>()[]{}|,;=*!?^&") BREAKS[character.charCodeAt(0)] = 1
const COMMA = 0x2c
const BACKSLASH = 0x5c

export const isLineBreak = (code: number): boolean =>
  code <= 0x0d ? code === 0x0a || code === 0x0d : code === 0x2028 || code === 0x2029

/** Whether a character ends a word: white space, brackets, quotes, and the punctuation of every script. */
export function isWordBreak(code: number): boolean {
  if (code < 0x80) return BREAKS[code] === 1
  if (code < 0xc0) return code !== 0xb5 && code !== 0xaa && code !== 0xba // µ and ordinal indicators are letters
  if (code === 0xd7 || code === 0xf7) return true
  if (code >= 0x2000 && code <= 0x2bff) return true // punctuation, arrows, box drawing, blocks
  return (code >= 0x3000 && code <= 0x303f) || (code >= 0xff00 && code <= 0xff0f) || (code >= 0xff1a && code <= 0xff20)
}

/** Whether the character is a comma between digits, as in 1,500. */
export function isJoiner(text: string, at: number): boolean {
  return text.charCodeAt(at) === COMMA && isDigit(text.charCodeAt(at - 1)) && isDigit(text.charCodeAt(at + 1))
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39
const isUpper = (code: number): boolean => code >= 0x41 && code <= 0x5a
const isLower = (code: number): boolean => code >= 0x61 && code <= 0x7a

/** Whether a character is Chinese, Japanese or Korean: these scripts have no blanks around Latin names. */
export const isCjk = (code: number): boolean =>
  (code >= 0x1100 && code <= 0x11ff) ||
  (code >= 0x3040 && code <= 0xa4cf) ||
  (code >= 0xac00 && code <= 0xd7ff) ||
  (code >= 0xf900 && code <= 0xfaff)

/** The kinds of characters in a word, as bits. */
export const WORD = {
  lower: 1,
  /** A capital that is not the first character. */
  upper: 2,
  digit: 4,
  sign: 8,
  cjk: 16,
  otherLetter: 32,
  backslash: 64,
  featureOf(code: number, isFirst: boolean): number {
    if (isLower(code)) return WORD.lower
    if (isUpper(code)) return isFirst ? 0 : WORD.upper
    if (isDigit(code)) return WORD.digit
    if (code === BACKSLASH) return WORD.backslash | WORD.sign
    if (code < 0x80) return WORD.sign
    return isCjk(code) ? WORD.cjk : WORD.otherLetter
  },
} as const

/** Words that are identifiers, and words that only machines write. */

const RANDOM = /[a-z\d]{20}/i
const LINKING = new Set(
  "of to the in and by on a an or for up at as is it per no non re so vs be if do with from out off all own well one two".split(
    " ",
  ),
)

/** Whether a word is in camelCase, TwoHumps, snake_case, SCREAMING_CASE, kebab-case with three parts, or mixes letters and digits. */
function isIdentifier(word: string): boolean {
  if (!/^[$@]?[\p{L}\p{N}_$~#%+-]+$/u.test(word) || looksRandom(word)) return false
  if (/^[$@]\w{2,}$/.test(word)) return true
  if (/[\p{L}\p{N}]_[\p{L}\p{N}]|^_+[\p{L}]\w|[a-z\d]_$|\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}{2}/u.test(word))
    return !/^[A-Z]+s$/.test(word)
  if (/\p{L}/u.test(word) && /\d/.test(word))
    return word.length >= 2 && !/^\d+(?:st|nd|rd|th)$/i.test(word) && !/^[A-Za-z]-\d$/.test(word)
  const parts = word.split("-")
  return parts.length >= 3 && parts.every((part) => part.length >= 2 && !LINKING.has(part.toLowerCase()))
}

/** Whether a word is base64, a token or an id: a long run in which letters of both cases and digits alternate. */
function looksRandom(word: string): boolean {
  if (!RANDOM.test(word)) return false
  let changes = 0
  for (let at = 1; at < word.length; at++)
    if (classOf(word.charCodeAt(at)) !== classOf(word.charCodeAt(at - 1))) changes++
  return changes > word.length / 2
}

function classOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return 1
  if (code >= 0x41 && code <= 0x5a) return 2
  return 3
}

export interface WordPosition {
  readonly text: string
  readonly at: number
  readonly end: number
  readonly lineStart: number
  readonly lineEnd: number
  readonly features: number
}

const NONE: readonly ExactName[] = []
const ORDINARY = WORD.lower | WORD.otherLetter
const LIBRARY = /^lib(?!er|rar|yan?$)[a-z]{3,}$/
const DOT = 0x2e
const UNIT_AFTER = 12 // characters after a number in which to look for its unit

export function classify({ text, at, end, lineStart, lineEnd, features }: WordPosition): readonly ExactName[] {
  if ((features & ~ORDINARY) === 0) {
    const isName =
      end - at >= 4 && (isEmptyCall(text, end) || (text.startsWith("lib", at) && LIBRARY.test(text.slice(at, end))))
    return isName ? [{ name: text.slice(at, end), kind: "identifier" }] : NONE
  }
  const raw = text.slice(at, end)
  if (features & WORD.cjk) return classifyMixedScripts(raw)
  const isFirst = at === lineStart
  if (raw.charCodeAt(0) === DOT && text[end] === "(") return classifyWord(raw.slice(1), {}) // a call in a chain, not a hidden file
  if ((features & WORD.digit) === 0) return classifyWord(raw, { isFirst })
  const after = text.slice(end, Math.min(lineEnd, end + UNIT_AFTER))
  const before = text.slice(Math.max(lineStart, at - UNIT_AFTER), at)
  return classifyWord(raw, { isFirst, before, after })
}

interface Around {
  /** Whether the word begins its line. */
  readonly isFirst?: boolean
  readonly before?: string
  readonly after?: string
}

/** Whether an empty argument list follows: `load()` is a name even though `load` is a word. */
const isEmptyCall = (text: string, end: number) => text[end] === "(" && text[end + 1] === ")"

/** Classifies a word of mixed scripts: a file name in Chinese, Japanese or Korean, or the Latin parts between the other letters. */
function classifyMixedScripts(raw: string): readonly ExactName[] {
  if (/^[^\\/:]{1,16}\.[a-z][a-z0-9]{1,4}$/i.test(raw) && !/[。、，]/.test(raw)) return [{ name: raw, kind: "path" }]
  const names: ExactName[] = []
  let part = ""
  for (const character of `${raw}\u4e00`) {
    if (!isCjk(character.charCodeAt(0))) part += character
    else if (part !== "") {
      names.push(...classifyWord(part, {}))
      part = ""
    }
  }
  return names
}

const TRAILING = ".:~+#@,;!?-"
const LEADS = "+:~>."
const LEADING = /^[+:~>.]*(?=[^\s+:~>.])/

const DATE = /^\d{4}[-/]\d\d[-/]\d\d$/
const TIMES = /^\d{4}-\d\d-\d\dT\d\d|^\d{1,2}:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|am|pm)?$|^\d\d\/[A-Z][a-z]{2}\/\d{4}/i
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const HEX = /^(?=.*\d)(?=.*[a-f])[0-9a-f]{7,64}$|^(?=.*\d)(?=.*[A-F])[0-9A-F]{7,64}$/
const HEX_VALUE = /^0x[0-9a-f]{2,16}$/i
const COLOUR = /^#(?=.*[a-f])(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})$/i
const VERSION = /^v\d+(?:\.(?:\d+|x))*(?:[-+][\w.+-]+)?$|^\d+\.\d+\.(?:\d+|x)(?:\.\d+)*(?:[-+][\w.+-]+)?$/
const IP = /^\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,2})?(?::\d{1,5})?$/
const IP6 = /^(?=.*:.*:)(?=.*\d)[0-9a-f:]{6,39}$/i
const HOST_PORT = /^[a-z][a-z\d-]*(?:\.[a-z\d-]+)*:\d{2,5}$/i
const EMAIL = /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/
const PACKAGE = /^@[a-z\d][\w.-]*\/[\w.-]+(?:@[\w.-]+)?$/i
const FLAG = /^--[a-z\d][\w-]*$|^-[A-Za-z]$/i
const TICKET = /^[A-Z][A-Z\d]{1,9}-\d{1,7}$/
const NUMBERED = /^[#!]\d{1,7}$/
const STANDARD = /^(?:UTF|ISO|SHA|RFC|AES|CP|MD|US|RSA|GPT)-/
/** errno names; other capitalised words that start with E are ordinary words. */
const ERRNO =
  /^E(?:NO(?!UGH|RM|CH)|ACC|ADDR|CONN|TIME|PERM|EXIST|PIPE|ISDIR|MFILE|INVAL|AGAIN|BUSY|HOST|NET|PROTO|BAD|LIFE|RESOLVE|INTEGR|ROFS|XDEV|LOOP|INTR|IO$|FAULT|CANCELED|MSGSIZE|NAMETOO|OVERFLOW|STALE|SRCH|CHILD)[A-Z]*$/
const ERROR_CODE = /^[A-Z]{1,6}\d{3,5}$|^ERR_\w+$/
const ERROR_TYPE = /^(?:[A-Z]\w*)?[A-Z][a-z]+(?:Error|Exception|Warning)$/
const STATUS_BEFORE = /(?:\bHTTP|\bstatus(?: code)?|\berror(?: code)?|\bexit(?: code)?|\bcode)[\s:=]{1,2}$/i

export function classifyWord(raw: string, surroundingText: Around): readonly ExactName[] {
  const word = trimWord(raw, surroundingText)
  const around = raw.endsWith(word) ? surroundingText : { ...surroundingText, after: "" } // "123: ms" has no unit
  if (word.length < 2) return NONE
  if (word.includes("://")) return classifyAddress(word)
  if (FLAG.test(word)) return around.isFirst && word.length === 2 ? NONE : [{ name: word, kind: "flag" }]
  if (word.startsWith("-")) return NONE
  return (/\d/.test(word) ? classifyWithDigits(word, around) : undefined) ?? classifyLetters(word, around)
}

/** Classifies words that contain a digit. `undefined`: none of these kinds. */
function classifyWithDigits(word: string, around: Around): readonly ExactName[] | undefined {
  const one = (kind: NameKind): readonly ExactName[] => [{ name: word, kind }]
  if (NUMBER_LIKE.test(word)) return classifyNumber(word, around)
  if (TIMES.test(word)) return NONE
  if (DATE.test(word)) return around.isFirst || /^[T ]\d\d:/.test(around.after ?? "") ? NONE : one("number")
  if (UUID.test(word) || HEX_VALUE.test(word) || COLOUR.test(word)) return one("hash")
  if (HEX.test(word)) return one("hash")
  if (IP.test(word)) return one("address")
  if (VERSION.test(word)) return one("version")
  if (HOST_PORT.test(word) && !isFileWithLine(word)) return one("address")
  if (TICKET.test(word)) return STANDARD.test(word) ? NONE : one("ticket")
  if (NUMBERED.test(word)) return one("ticket")
  if (ERROR_CODE.test(word)) return one("error")
  return IP6.test(word) ? one("address") : undefined
}

function classifyLetters(word: string, around: Around): readonly ExactName[] {
  const one = (kind: NameKind): readonly ExactName[] => [{ name: word, kind }]
  if (word.includes("@") && EMAIL.test(word)) return one("address")
  if (word.startsWith("@") && PACKAGE.test(word)) return one("identifier")
  if (COLOUR.test(word)) return one("hash")
  if (ERRNO.test(word) || ERROR_CODE.test(word) || ERROR_TYPE.test(word)) return one("error")
  if (word.includes(":")) return classifyWithColon(word, around)
  if (word.includes("/") || word.includes("\\")) return pathNames(word)
  if (word.includes(".")) return classifyDotted(word)
  return isIdentifier(word) ? one("identifier") : NONE
}

function trimWord(raw: string, { isFirst = false }: Around): string {
  let end = raw.length
  while (end > 0 && TRAILING.includes(raw[end - 1]!)) end--
  const untrailed = raw.slice(0, end)
  if (isFirst && /^[+-](?!-)/.test(untrailed)) return untrailed.replace(/^[+-]+/, "").replace(LEADING, "") // a changed line of a diff
  if (!LEADS.includes(untrailed[0] ?? " ")) return untrailed
  return /^\.{1,2}[/\\]|^~[/\\]|^\.[a-z]/i.test(untrailed) ? untrailed : untrailed.replace(LEADING, "")
}

const MAX_ADDRESS = 160 // characters; a longer address is reduced to its host and last part

function classifyAddress(word: string): readonly ExactName[] {
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/\s]/i.test(word)) return NONE
  if (word.length <= MAX_ADDRESS) return [{ name: word, kind: "address" }]
  const [scheme, host = ""] = [word.slice(0, word.indexOf("://")), word.split("/")[2]]
  const last = word.split(/[?#]/)[0]!.split("/").filter(Boolean).at(-1)!
  const name = last === host ? `${scheme}://${host}` : `${scheme}://${host}/…/${last.slice(0, MAX_ADDRESS)}`
  return [{ name, kind: "address" }]
}

const isFileWithLine = (word: string) =>
  /\.[a-z]{1,5}:\d+$/i.test(word) && !/\.(?:com|org|net|io|dev|local|internal|app|cloud):/i.test(word)

/**
 * Classifies a word with a colon: `src/a.ts:12:5` is a path and `std::mem::swap` one identifier. Otherwise the parts are classified one
 * by one.
 */
function classifyWithColon(word: string, around: Around): readonly ExactName[] {
  if (word.includes("::")) return /^[\w$]+(?:::[\w$~]+)+$/.test(word) ? [{ name: word, kind: "identifier" }] : NONE
  const [drive] = /^[A-Za-z]:[\\/]/.exec(word) ?? []
  if (drive !== undefined) return pathNames(word.replace(/(?<=..*):\d+(?::\d+)?$/, ""))
  const [path = "", ...rest] = word.split(":")
  // a line number in prose is a name; at the start of a line, it belongs to one of many search matches
  const isPlace = /[./\\]/.test(path) && rest.every((part) => /^\d*(?:-\d+)?$/.test(part))
  if (isPlace) return [...classifyWord(path, {}), ...(around.isFirst ? NONE : lineNumber(rest[0] ?? ""))]
  return [path, ...rest].flatMap((part, at) =>
    part === "" ? NONE : classifyWord(part, { isFirst: at === 0 && around.isFirst === true }),
  )
}

const lineNumber = (part: string): readonly ExactName[] =>
  /^\d{3,6}(?:-\d{1,6})?$/.test(part) ? [{ name: part, kind: "number" }] : NONE

const UNITS =
  "ns|us|µs|ms|s|sec|secs|seconds?|min|mins|minutes?|h|hrs?|hours?|d|days?|weeks?|months?|years?|b|kb|mb|gb|tb|kib|mib|gib|bytes?|bits?|k|m|g|t|bn|hz|khz|mhz|ghz|px|em|rem|pt|dpi|fps|rps|qps|w|kw|v|ma|°c|°f|c|mm|cm|km|kg|mg|usd|eur|gbp|jpy|cny|x|percent|pp"
const NUMBER = String.raw`[$€£¥]?[+-]?\d[\d,_]*(?:\.\d+)?`
const NUMBER_LIKE = new RegExp(`^${NUMBER}(?:%|‰|(?:${UNITS}))?(?:/(?:${UNITS}))?$`, "i")
const WITH_UNIT = new RegExp(`^(?:[$€£¥].*|.*(?:%|‰|\\d(?:${UNITS})(?:/(?:${UNITS}))?))$`, "i")
const UNIT_NEXT = new RegExp(`^ (${UNITS})(?![\\w-])`, "i")
const MAX_DIGITS = 15 // longer numbers are machine ids or noise

/** Classifies a number. Two digits need a unit. Years, timestamps and permission masks are not names. */
function classifyNumber(word: string, { before = "", after = "" }: Around): readonly ExactName[] {
  const digits = word.replace(/\D/g, "")
  if (digits.length > MAX_DIGITS || /^0+$/.test(digits)) return NONE
  const status = STATUS_BEFORE.exec(before)
  if (status && /^\d{1,3}$/.test(word) && digits !== "0") {
    const label = status[0].replace(/[\s:=]+$/, "")
    return [{ name: `${label} ${word}`, kind: "error" }]
  }
  if (WITH_UNIT.test(word))
    return /^\d+(?:x|b|c|t|v|w|g|h|d|s|m)$/i.test(word) && digits.length < 2 ? NONE : [{ name: word, kind: "number" }]
  const unit = UNIT_NEXT.exec(after)?.[1]
  if (unit !== undefined && digits.length >= 2) return [{ name: `${word} ${unit}`, kind: "number" }]
  if (/^(?:19|20)\d\d$/.test(word) && !/[:=]\s?$|port /i.test(before)) return NONE
  if (/^1\d{9}$|^1\d{12}$/.test(word) || /^100(?:644|755)$/.test(word)) return NONE
  return digits.length >= 3 ? [{ name: word, kind: "number" }] : NONE
}

const ABBREVIATION = /^(?:[a-z]\.)+[a-z]?$|^(?:etc|vs|cf|al|approx|Mr|Mrs|Dr)\./i
const NEXT_SENTENCE =
  /\.(?:The|It|This|That|Then|There|We|I|If|But|And|A|An|In|On|You|So|No|Now|What|How|Please|Also|Let|To)$/
const TOP_LEVEL =
  /\.(?:com|org|net|io|dev|ai|app|gov|edu|cloud|local|internal|info|co|uk|de|fr|jp|cn|eu|us|test|example)$/

const OWNER = /^(?:this|self|super|cls|window|module)\.(?=.)/

/**
 * Classifies a word with dots: a file, a host or members of something. Of members, those that are names by themselves; if none is, the
 * entire word.
 */
function classifyDotted(raw: string): readonly ExactName[] {
  const word = raw.replace(OWNER, "")
  if (!word.includes(".")) return isIdentifier(word) ? [{ name: word, kind: "identifier" }] : NONE
  if (ABBREVIATION.test(word) || word.includes("..") || NEXT_SENTENCE.test(word)) return NONE
  if (!/^[\w$.@#-]*[\p{L}][\w$.@#\p{L}-]*$/u.test(word) || looksRandom(word)) return NONE
  if (TOP_LEVEL.test(word) && !/[A-Z_$]/.test(word)) return [{ name: word, kind: "address" }]
  if (isFileName(word)) return pathNames(word)
  if (word.startsWith(".")) return NONE
  const members = word.split(".").filter(isIdentifier)
  return (members.length > 0 ? members : [word]).map((name) => ({ name, kind: "identifier" as const }))
}

/** Names from paths: the last parts, so that a path is recognisable and short. */
const MAX_PART = 80 // characters
const SHORT_PATH = 24 // characters; a path up to this length is not shortened
const SHORT_ABSOLUTE = 48 // the same for absolute paths
const FILE = /^[^.\s][^\s]*\.[a-z][a-z\d]{0,7}$|^\.[a-z][\w.-]*$|^[A-Z][a-z]+file$/i
const EXTENSIONS = new Set(
  (
    "ts tsx js jsx mjs cjs mts cts py pyi ipynb go mod sum rs rb java kt kts scala swift c h cc cpp hpp cs fs php pl lua r jl dart ex exs erl hs clj vue svelte " +
    "md mdx txt rst adoc pdf doc docx xls xlsx csv tsv json jsonl json5 yaml yml toml ini cfg conf env xml html htm css scss less svg png jpg jpeg gif webp ico " +
    "sh bash zsh fish ps1 bat sql db sqlite log lock map proto graphql tf hcl gradle properties plist diff patch zip gz tar tgz wasm bin exe dll so dylib traj snap tmpl tpl"
  ).split(" "),
)
const HIDDEN = /^\.[a-z][\w.-]{2,}$/i
const NATURAL = /^\p{L}+(?:-\p{L}+)*$/u

/**
 * Whether a word is a file name, such as `main.go` or `.gitignore` but not `session.prompt`. An extension alone, such as `.ts`, is not
 * a file.
 */
function isFileName(word: string): boolean {
  const ending = word.slice(word.lastIndexOf(".") + 1)
  if (EXTENSIONS.has(ending.toLowerCase())) return word.length > ending.length + 1 || ending === "env"
  return HIDDEN.test(word)
}

/** Classifies a path. "and/or", "read/write" and ratios are not paths: a path starts with ~, . or /, has three parts, or names a file. */
function pathNames(word: string): readonly ExactName[] {
  const separator = word.includes("/") ? "/" : "\\"
  const path =
    separator === "\\" && !/^[A-Za-z]:|^\\\\|^\.{1,2}\\/.test(word) && /\\[nrt"]/.test(word) ? unescaped(word) : word
  if (path !== word) return path.split(/\s+/).flatMap((part) => (part === "" ? [] : pathNames(part)))
  const parts = word.split(/[\\/]/).filter((part) => part !== "" && part !== "." && part !== ".." && part !== "~")
  const last = parts.at(-1)
  if (last === undefined || last.length > MAX_PART || looksRandom(last)) return []
  if (!/\p{L}/u.test(last) && parts.length < 3) return []
  const isRooted = /^[~./\\]|^[A-Za-z]:/.test(word)
  const isRelative = /^\.{1,2}[\\/]/.test(word)
  if (parts.length === 1 && (!isRooted || isRelative)) {
    if (FILE.test(last)) return [{ name: last, kind: "path" }]
    return isIdentifier(last) ? [{ name: last, kind: "identifier" }] : []
  }
  if (parts.length === 2 && !isRooted && parts.every((part) => !FILE.test(part) && isIdentifier(part)))
    return parts.map((name) => ({ name, kind: "identifier" as const })) // "one of loadAll/saveAll"
  const isPath = isRooted || parts.length > 2 || FILE.test(last) || /[\d_]|[a-z][A-Z]/.test(word)
  if (!isPath || (parts.length <= 3 && !isRooted && parts.every((part) => NATURAL.test(part) && part.length < 3)))
    return []
  const isShort = word.length <= (/^[~/]/.test(word) ? SHORT_ABSOLUTE : SHORT_PATH) && !isRelative
  return [{ name: isShort ? word : parts.slice(-2).join(separator), kind: "path" }]
}

/** Replaces the escaped line breaks and quotes of JSON by blanks. */
const unescaped = (word: string) => word.replace(/\\+[nrt"]/g, " ")
