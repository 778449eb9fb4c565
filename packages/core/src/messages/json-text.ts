/**
 * Changes a part of a JSON text and leaves the rest as it was written: white space, numbers, escapes, repeated keys. All texts must be
 * valid JSON.
 */
import { stringifyExact } from "./exact-json.ts"
import { isRecord } from "./shapes/shapes.ts"

/** Offsets of an element in a text. */
interface TextRange {
  readonly start: number
  readonly end: number
}

interface Member extends TextRange {
  readonly key: string
  /** Offset of the member's key. `start` is the offset of its value. */
  readonly from: number
}

/** Returns the text of `next`, which was derived from `old`. Parts that both share are written as in `text`, the text of `old`. */
export function respell(text: string, old: unknown, next: unknown): string {
  if (isSame(old, next)) return text
  if (Array.isArray(old) && Array.isArray(next)) return respellList(text, old, next)
  if (isRecord(old) && isRecord(next)) return respellObject(text, old, next)
  if (typeof old === "string" && isBlockOf(next, old)) {
    const { type: _, text: __, ...rest } = next[0]
    const others = Object.entries(rest).map(([key, value]) => `,${JSON.stringify(key)}:${stringifyExact(value)}`)
    return `[{"type":"text","text":${text}${others.join("")}}]`
  }
  return stringifyExact(next)
}

/** Whether a value is a list with one block that contains the text. */
const isBlockOf = (value: unknown, text: string): value is readonly [Readonly<Record<string, unknown>>] =>
  Array.isArray(value) && value.length === 1 && value[0]?.type === "text" && value[0].text === text

/** Assumes that new items were added at the front. */
function respellList(text: string, old: readonly unknown[], next: readonly unknown[]): string {
  const items = listElements(text)
  const added = next.length - old.length
  if (added < 0 || items.length === 0) return `[${next.map((item) => stringifyExact(item)).join(",")}]`
  const front = next.slice(0, added).map((item) => `${stringifyExact(item)},`)
  const rest = items.map(({ start, end }, at) => {
    const before = text.slice(at === 0 ? 1 : items[at - 1]!.end, start)
    return before + respell(text.slice(start, end), old[at], next[at + added])
  })
  return `[${front.join("")}${rest.join("")}${text.slice(items.at(-1)!.end)}`
}

type Fields = Readonly<Record<string, unknown>>

function respellObject(text: string, old: Fields, next: Fields): string {
  const members = listMembers(text)
  const last = new Map(members.map((member) => [member.key, member]))
  let written = "{"
  for (const [at, member] of members.entries()) {
    const { key, from, start, end } = member
    const isChanged = !isSame(old[key], next[key])
    if (next[key] === undefined || (isChanged && last.get(key) !== member)) continue
    const gap = text.slice(at === 0 ? 1 : members[at - 1]!.end, from)
    written += written === "{" ? gap.replace(",", "") : gap.includes(",") ? gap : `,${gap}`
    written += isChanged
      ? text.slice(from, start) + respell(text.slice(start, end), old[key], next[key])
      : text.slice(from, end)
  }
  for (const [key, value] of Object.entries(next))
    if (!last.has(key) && value !== undefined)
      written += `${written === "{" ? "" : ","}${JSON.stringify(key)}:${stringifyExact(value)}`
  return written + text.slice(members.at(-1)?.end ?? text.length - 1)
}

/** Whether JSON would write both values the same. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, at) => isSame(item, b[at]))
  if (!isRecord(a) || !isRecord(b)) return false
  const [keys, others] = [a, b].map((each) => Object.keys(each).filter((key) => each[key] !== undefined))
  return keys!.length === others!.length && keys!.every((key) => isSame(a[key], b[key]))
}

/** Removes the white space between the tokens of a JSON text. */
export function minify(text: string): string {
  let written = ""
  let from = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') at = stringEnd(text, at) - 1
    else if (isSpace(text.charCodeAt(at))) {
      written += text.slice(from, at)
      from = at + 1
    }
  }
  return written + text.slice(from)
}

/** The members of an object's text. A key may occur twice. */
export function listMembers(text: string): readonly Member[] {
  const members: Member[] = []
  let at = skipSpace(text, skipSpace(text, 0) + 1)
  while (text[at] === '"') {
    const from = at
    const keyEnd = stringEnd(text, at)
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1) // after the colon
    const end = valueEnd(text, start)
    members.push({ key: JSON.parse(text.slice(from, keyEnd)) as string, from, start, end })
    at = skipSpace(text, end)
    if (text[at] === ",") at = skipSpace(text, at + 1)
  }
  return members
}

/** The elements of a list's text. */
function listElements(text: string): readonly TextRange[] {
  const elements: TextRange[] = []
  let at = skipSpace(text, skipSpace(text, 0) + 1)
  while (at < text.length && text[at] !== "]") {
    const end = valueEnd(text, at)
    elements.push({ start: at, end })
    at = skipSpace(text, end)
    if (text[at] === ",") at = skipSpace(text, at + 1)
  }
  return elements
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

function skipSpace(text: string, from: number): number {
  let at = from
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

/** Offset at which the value that starts at `from` ends. */
function valueEnd(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const sign = text[at]
    if (sign === '"') {
      at = stringEnd(text, at) - 1
      if (depth === 0) return at + 1
    } else if (sign === "{" || sign === "[") depth++
    else if (sign === "}" || sign === "]") {
      if (depth === 0) return at // end of a number or a word
      if (--depth === 0) return at + 1
    } else if (depth === 0 && (sign === "," || isSpace(text.charCodeAt(at)))) return at
  }
  return text.length
}

/** Offset after the closing quote. */
function stringEnd(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text[at - 1 - slashes] === "\\") slashes++
    if (slashes % 2 === 0) return at + 1
  }
  return text.length
}
