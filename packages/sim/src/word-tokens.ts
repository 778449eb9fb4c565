/**
 * Counts o200k tokens as gpt-tokenizer does, in a fraction of the time. The tokenizer splits a text into words with a regular expression
 * and merges each word's bytes. Here a scanner finds the same words in ASCII text, and looks up the tokens of words that occurred before,
 * without copying them. Text with other characters is passed to the tokenizer. A property test compares both.
 */
import { clearMergeCache, countTokens } from "gpt-tokenizer/encoding/o200k_base"

/** Number of characters counted at once: the tokenizer's time grows with the square of the length of an unbroken run. */
export const PIECE = 2048

/** Counts text such as `<|endoftext|>` as plain text, never as a control token. */
export const PLAIN = { disallowedSpecial: new Set<string>() }

const END = 0x80 // follows the text: no ASCII character
const NEWLINE = 1
const BLANK = 2 // white space other than spaces
const DIGIT = 3
const UPPER = 4
const LOWER = 5
const MARK = 6 // any other character
const KINDS = Uint8Array.from({ length: 256 }, (_, code) => (code < END ? kindOf(String.fromCharCode(code)) : 0))
const MAX_DIGITS = 3 // in one word
const [SPACE, SLASH, APOSTROPHE, SMALL] = [0x20, 0x2f, 0x27, 0x20] // `SMALL` is the bit that is set in a lowercase letter
const [D, E, L, M, R, S, T, V] = [..."delmrstv"].map((letter) => letter.charCodeAt(0))

function kindOf(character: string): number {
  if (/[\r\n]/.test(character)) return NEWLINE
  if (/\s/.test(character)) return BLANK
  if (/\d/.test(character)) return DIGIT
  if (/[A-Z]/.test(character)) return UPPER
  return /[a-z]/.test(character) ? LOWER : MARK
}

const CLEAR_EVERY = 200_000 // characters; with 100,000 words in its own cache the tokenizer takes a hundred times as long for each new one
let counted = 0

function countByTokenizer(text: string): number {
  counted += text.length
  if (counted > CLEAR_EVERY) {
    clearMergeCache()
    counted = 0
  }
  return countTokens(text, PLAIN)
}

const encoder = new TextEncoder()
const FOUR = 4 // bytes that are read at once
/** The chunk that is being counted, followed by `END`. */
const bytes = new Uint8Array(3 * PIECE + 2 * FOUR)
const view = new DataView(bytes.buffer)
const fourAt = (at: number): number => view.getInt32(at, true)
const MIX = 0x9e3779b1

/** Tokens of at most `PIECE` characters. */
export function countPiece(piece: string): number {
  const { written } = encoder.encodeInto(piece, bytes)
  if (written !== piece.length) return countByTokenizer(piece)
  bytes[written] = END
  let tokens = 0
  for (let at = 0; at < written; ) {
    const first = kindAt(at)
    let end = at + 1
    if (isLetter(first) || ((first === MARK || first === BLANK) && isLetter(kindAt(end)))) {
      // most words: optionally a symbol or a blank, then uppercase, then lowercase letters, then an English contraction
      if (first !== LOWER) while (kindAt(end) === UPPER) end++
      end = endOfLower(end)
      if (bytes[end] === APOSTROPHE) end += contractionAt(end)
    } else end = endOfOther(at, first)
    tokens += end - at === 1 ? 1 : tokensOf(piece, { start: at, end })
    at = end
  }
  return tokens
}

const kindAt = (at: number): number => KINDS[bytes[at]!]!
const isLetter = (kind: number): boolean => kind === UPPER || kind === LOWER

/** After the first sum, the high bit of a byte is set if it is at least `a`; after the second, if it is more than `z`. */
function endOfLower(start: number): number {
  for (let at = start; ; at += FOUR) {
    const four = fourAt(at)
    const others = ~((four + 0x1f1f1f1f) & ~(four + 0x05050505)) & 0x80808080
    if (others !== 0) return at + ((31 - Math.clz32(others & -others)) >> 3)
  }
}

/** The end of a word without letters. */
function endOfOther(at: number, first: number): number {
  if (first === DIGIT) return endOfDigits(at)
  if (first === MARK) return endOfSymbols(at)
  return bytes[at] === SPACE && kindAt(at + 1) === MARK ? endOfSymbols(at + 1) : endOfBlanks(at)
}

/** The length of `'s`, `'d`, `'m`, `'t`, `'ll`, `'ve` or `'re`, or 0. */
function contractionAt(at: number): number {
  const first = bytes[at + 1]! | SMALL
  const second = bytes[at + 2]! | SMALL
  if (first === S || first === D || first === M || first === T) return 2
  return (first === L && second === L) || ((first === V || first === R) && second === E) ? 3 : 0
}

function endOfDigits(start: number): number {
  let at = start + 1
  while (at < start + MAX_DIGITS && kindAt(at) === DIGIT) at++
  return at
}

function endOfSymbols(start: number): number {
  let at = start
  while (kindAt(at) === MARK) at++
  while (kindAt(at) === NEWLINE || bytes[at] === SLASH) at++
  return at
}

/** White space up to its last line break. Without a line break, all but the last character, which belongs to the next word. */
function endOfBlanks(start: number): number {
  let newline = -1
  let at = start
  for (let kind = kindAt(at); kind === NEWLINE || kind === BLANK; kind = kindAt(++at))
    if (kind === NEWLINE) newline = at
  if (newline >= 0) return newline + 1
  return bytes[at] === END || at - start === 1 ? at : at - 1
}

/**
 * Known words: an open hash table, emptied when it is full. A slot contains its complete word as numbers of four bytes, so that a lookup
 * reads one memory location and compares no single bytes.
 */
const SLOTS = 1 << 17
const MAX_WORDS = SLOTS / 2
const MAX = 28 // characters; longer words rarely occur again
const SLOT = 8 // numbers: `length * 64 + tokens`, or 0 if the slot is free; the end of the word; the word up to its end
const table = new Int32Array(SLOT * SLOTS)
let words = 0

interface Word {
  readonly start: number
  readonly end: number
}

function tokensOf(piece: string, word: Word): number {
  const { start, end } = word
  const length = end - start
  if (length > MAX) return countByTokenizer(piece.slice(start, end))
  const tail = length < FOUR ? fourAt(start) & (-1 >>> (8 * (FOUR - length))) : fourAt(end - FOUR)
  let hash = Math.imul(tail ^ length, MIX)
  for (let at = start; at < end - FOUR; at += FOUR) hash = Math.imul(hash ^ (hash >>> 15) ^ fourAt(at), MIX)
  let slot = slotOf(hash)
  for (let entry = table[slot]!; entry !== 0; entry = table[slot]!) {
    if (entry >>> 6 === length && table[slot + 1] === tail && startsAt(slot + 2, word)) return entry & 63
    slot = (slot + SLOT) & (SLOT * SLOTS - 1)
  }
  const tokens = countByTokenizer(piece.slice(start, end))
  if (words >= MAX_WORDS) {
    table.fill(0)
    words = 0
    slot = slotOf(hash)
  }
  table[slot] = length * 64 + tokens
  table[slot + 1] = tail
  for (let at = start, there = slot + 2; at < end - FOUR; at += FOUR) table[there++] = fourAt(at)
  words++
  return tokens
}

const slotOf = (hash: number): number => SLOT * ((hash ^ (hash >>> 15)) & (SLOTS - 1))

/** Whether the slot contains the word up to its last four bytes. */
function startsAt(place: number, { start, end }: Word): boolean {
  for (let at = start, there = place; at < end - FOUR; at += FOUR) if (table[there++] !== fourAt(at)) return false
  return true
}
