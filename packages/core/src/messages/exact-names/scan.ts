/** Classes of characters: what ends a line, what ends a word, what only seems to. */

/** By character code: 1 for ASCII characters that are never part of a name. */
const BREAKS = new Uint8Array(0x80).fill(1, 0, 0x21)
for (const character of "\u007f\"'`<>()[]{}|,;=*!?^&") BREAKS[character.charCodeAt(0)] = 1
const COMMA = 0x2c
const BACKSLASH = 0x5c

export const isLineBreak = (code: number): boolean =>
  code <= 0x0d ? code === 0x0a || code === 0x0d : code === 0x2028 || code === 0x2029

/** White space, brackets, quotes, and the punctuation of every script. */
export function isWordBreak(code: number): boolean {
  if (code < 0x80) return BREAKS[code] === 1
  if (code < 0xc0) return code !== 0xb5 && code !== 0xaa && code !== 0xba // µ and ordinals are letters
  if (code === 0xd7 || code === 0xf7) return true
  if (code >= 0x2000 && code <= 0x2bff) return true // punctuation, arrows, box drawing, blocks
  return (code >= 0x3000 && code <= 0x303f) || (code >= 0xff00 && code <= 0xff0f) || (code >= 0xff1a && code <= 0xff20)
}

/** A comma between digits, as in 1,500. */
export function isJoiner(text: string, at: number): boolean {
  return text.charCodeAt(at) === COMMA && isDigit(text.charCodeAt(at - 1)) && isDigit(text.charCodeAt(at + 1))
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39
const isUpper = (code: number): boolean => code >= 0x41 && code <= 0x5a
const isLower = (code: number): boolean => code >= 0x61 && code <= 0x7a

/** Chinese, Japanese and Korean: written without blanks around Latin names. */
export const isCjk = (code: number): boolean =>
  (code >= 0x1100 && code <= 0x11ff) ||
  (code >= 0x3040 && code <= 0xa4cf) ||
  (code >= 0xac00 && code <= 0xd7ff) ||
  (code >= 0xf900 && code <= 0xfaff)

/** What a word contains, as bits. */
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
