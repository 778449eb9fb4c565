/**
 * One cheap pass over a text, so that most slow patterns need not run: which letters follow each other, and where long words are.
 * Letters are compared by their lowest five bits, which ignores case, so a word may seem to be there that is not, never the opposite.
 */

export interface Run {
  readonly start: number
  readonly end: number
}

/** A word as the groups of three letters in it. A word of two letters is one group, with any third letter. */
export interface LetterGroups {
  readonly pairs: readonly number[]
  /** For each pair, a bit for the letter that follows. */
  readonly thirds: readonly number[]
}

const letterAt = (text: string, at: number) => text.charCodeAt(at) & LETTER_BITS

export function letterGroups(word: string): LetterGroups {
  const starts = Array.from({ length: Math.max(1, word.length - 2) }, (_, at) => at)
  return {
    pairs: starts.map((at) => (letterAt(word, at) << 5) | letterAt(word, at + 1)),
    thirds: starts.map((at) => (word.length === 2 ? -1 : 1 << letterAt(word, at + 2))),
  }
}

export interface TextScan {
  /** Runs of at least 24 characters of base64, in either alphabet. */
  readonly runs: readonly Run[]
  readonly longestRun: number
  readonly isAscii: boolean
  /** Whether the text may contain the word, in any case. */
  has(word: LetterGroups): boolean
}

export const MIN_RUN = 24 // characters
const ASCII = 128
const LETTER_BITS = 31
const PAIR_BITS = 1023
/** The long s and the Kelvin sign: the only characters which equal a letter with other lowest bits, regardless of case. */
const FOLDED = new Set([0x17f, 0x212a])
const IN_RUN = Uint8Array.from({ length: ASCII }, (_, code) =>
  /[A-Za-z0-9+/_-]/.test(String.fromCharCode(code)) ? 1 : 0,
)

export function scanText(text: string): TextScan {
  /** For each pair of letters, which letters follow it. */
  const following = new Uint32Array(PAIR_BITS + 1)
  const runs: Run[] = []
  let [pair, start, isAscii, isFolded] = [0, 0, true, false]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    following[pair]! |= 1 << (code & LETTER_BITS)
    pair = ((pair << 5) | (code & LETTER_BITS)) & PAIR_BITS
    if (code < ASCII && IN_RUN[code] === 1) continue
    if (at - start >= MIN_RUN) runs.push({ start, end: at })
    start = at + 1
    if (code < ASCII) continue
    isAscii = false
    if (FOLDED.has(code)) isFolded = true
  }
  if (text.length - start >= MIN_RUN) runs.push({ start, end: text.length })
  following[pair]! |= 1 // the last pair has no third letter
  const longestRun = runs.reduce((longest, run) => Math.max(longest, run.end - run.start), 0)
  return { runs, longestRun, isAscii, has: (word) => isFolded || isIn(following, word) }
}

function isIn(following: Uint32Array, { pairs, thirds }: LetterGroups): boolean {
  for (let at = 0; at < pairs.length; at++) if ((following[pairs[at]!]! & thirds[at]!) === 0) return false
  return true
}
