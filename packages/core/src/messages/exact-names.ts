/**
 * Exact names in a text: what a paraphrase would lose. Identifiers, paths, numbers, hashes, addresses, versions, flags, error codes, tickets
 * and short quotes, in any script. Ordinary words are not names. Dumps, base64, minified code and the times of log lines are left out.
 * Reads the text once; the time is linear in its length.
 */
import { classify } from "./exact-names/classify.ts"
import type { ExactName, NameKind } from "./exact-names/name.ts"
import { contentStart, isNoise } from "./exact-names/noise.ts"
import { type Closings, isQuote, quotedAt } from "./exact-names/quotes.ts"
import { isJoiner, isLineBreak, isWordBreak, WORD } from "./exact-names/scan.ts"

export type { ExactName, NameKind }

const MOST_NAMES = 2_000
const LONGEST_WORD = 200 // characters; longer ones are data, not names
const MOST_LONG_HASHES = 8 // uuids and sha256 in one text; more than that is a dump or a lock file
const LONG_HASH = 32 // characters

/** Distinct names in order of first occurrence, at most `most`. */
export function exactNamesIn(text: string, most = MOST_NAMES): readonly ExactName[] {
  const found = new Map<string, NameKind>()
  const closings: Closings = new Map()
  for (let at = 0; at < text.length && found.size < most; ) {
    let end = at
    while (end < text.length && !isLineBreak(text.charCodeAt(end))) end++
    readLine({ text, at, end, most, closings }, found)
    at = end + 1
  }
  return withoutBulk(found)
}

interface Line {
  readonly text: string
  readonly at: number
  readonly end: number
  readonly most: number
  readonly closings: Closings
}

function readLine({ text, at: begin, end, most, closings }: Line, found: Map<string, NameKind>): void {
  if (begin === end || isNoise({ text, at: begin, end })) return
  const start = contentStart({ text, at: begin, end })
  const add = ({ name, kind }: ExactName) => {
    if (!found.has(name)) found.set(name, kind)
  }
  let at = start
  while (at < end && found.size < most) {
    const code = text.charCodeAt(at)
    if (isQuote(code)) {
      const quoted = quotedAt({ text, at, start: begin, end, closings })
      if (quoted !== undefined) add({ name: quoted, kind: "quoted" })
      at++ // the words inside are read as well
    } else if (isWordBreak(code)) at = code === ESCAPE ? afterEscape(text, at) : at + 1
    else {
      const word = wordAt({ text, at, end })
      if (word.end - at <= LONGEST_WORD)
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

/** In an address, signs that end other words do not end it. */
function endOfAddress(text: string, at: number, end: number): number {
  let to = at
  while (to < end) {
    const code = text.charCodeAt(to)
    if (code <= 0x20 || code >= 0x2000 || AFTER_ADDRESS.has(code)) break
    to++
  }
  return to
}

/** After a colour or cursor code of a terminal. */
function afterEscape(text: string, at: number): number {
  if (text[at + 1] !== "[") return at + 1
  let end = at + 2
  while (end < text.length && end < at + 24 && /[\d;?]/.test(text[end]!)) end++
  return end + 1
}

/** The word that begins here, and what kinds of characters are in it. Most words are ordinary ones, and the features show it. */
function wordAt({ text, at, end }: Pick<Line, "text" | "at" | "end">): {
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

function withoutBulk(found: ReadonlyMap<string, NameKind>): readonly ExactName[] {
  const names = [...found].map(([name, kind]) => ({ name, kind }))
  const isLongHash = ({ name, kind }: ExactName) => kind === "hash" && name.length >= LONG_HASH
  return names.filter(isLongHash).length > MOST_LONG_HASHES ? names.filter((name) => !isLongHash(name)) : names
}
