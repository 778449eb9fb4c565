/** Lines and beginnings of lines that hold no names: dumps, minified code, progress bars, times of log lines, numbers of listings. */

interface Line {
  readonly text: string
  readonly at: number
  readonly end: number
}

const HEAD = 120 // characters of a line that the patterns look at
const LONG_LINE = 1_000 // characters; prose and code in longer lines has blanks
const LEAST_BLANKS = 1 / 12 // of a long line: prose has one in six characters, minified code one in thirty

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

const SHORTEST = 8 // characters: every pattern needs more

export function isNoise({ text, at, end }: Line): boolean {
  if (end - at < SHORTEST) return false
  const head = text.slice(at, Math.min(end, at + HEAD)).trimStart()
  return NOISE.some((pattern) => pattern.test(head)) || isMinified({ text, at, end })
}

/** A long line with few blanks. One of JSON is data with names in it; letters of scripts without blanks count as blanks. */
function isMinified({ text, at, end }: Line): boolean {
  const length = end - at
  if (length < LONG_LINE || /^\s*[{[]\s*["{[]/.test(text.slice(at, at + 20))) return false
  let blanks = 0
  for (let each = at; each < end; each++) {
    const code = text.charCodeAt(each)
    if (code <= 0x20 || code >= 0x3000) blanks++
  }
  return blanks < length * LEAST_BLANKS
}

const TIME = String.raw`\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?`
const PREFIXES: readonly RegExp[] = [
  new RegExp(String.raw`^[\s[(]*\d{4}[-/]\d\d[-/]\d\d[T ]${TIME}(?:Z| ?[+-]\d\d:?\d\d)?[\])]?`), // log line, date and time
  new RegExp(String.raw`^[\s[(]*${TIME}[\])]?(?=\s|$)`), // log line, time
  new RegExp(String.raw`^[\s[(]*[A-Z][a-z]{2} {1,2}\d{1,2} ${TIME}`), // syslog
  /^\s*\d{1,7}(?:\t|→| ?[|│] |[:-](?=\s|\S*\s))/, // numbered line of a file listing or of a search
  /^[-dlbcps][rwxsStT-]{9}[.+@]?\s.*?(?:\d\d:\d\d|\s\d{4})\s/, // ls -l: all but the name
]

const MAY_BEGIN = /[\dA-Zdlbcps-]/ // what the prefixes begin with, after blanks and brackets

/** Where a line's own text begins. */
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
