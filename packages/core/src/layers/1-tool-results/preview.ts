/**
 * The part of a large text that stays in the context: its beginning and a little of its end, cut at a line end if one is near, and the
 * shape of JSON. A preview consists of two lengths instead of a text, so that content is stored only once.
 */

export interface Preview {
  /** Number of characters from the beginning and from the end. */
  readonly head: number
  readonly tail: number
  readonly cut: "line-end" | "mid-line"
  readonly shape?: string
}

const TAIL_SHARE = 1 / 4 // of the beginning: errors and totals are at the end
const NEAR = 1 / 4 // a line end within this part of a piece is near enough to cut there

const AROUND = 1_000 // characters: tags, the path, what the parts are, the shape of JSON

/** Maximum number of characters that a result takes in the context once it is offloaded. */
export const maxPreviewSize = (size: number): number => Math.ceil(size * (1 + TAIL_SHARE)) + AROUND

export function previewOf(text: string, size: number): Preview {
  const head = headOf(text, size)
  const tail = tailOf(text, Math.min(Math.floor(size * TAIL_SHARE), text.length - head.length))
  const shape = jsonShape(text)
  return { head: head.length, tail, cut: head.cut, ...(shape === undefined ? {} : { shape }) }
}

function headOf(text: string, size: number): { length: number; cut: Preview["cut"] } {
  if (text.length <= size) return { length: text.length, cut: "line-end" }
  const lineEnd = text.lastIndexOf("\n", size)
  if (lineEnd >= size * (1 - NEAR)) return { length: lineEnd, cut: "line-end" }
  return { length: splitsPair(text, size) ? size - 1 : size, cut: "mid-line" }
}

function tailOf(text: string, size: number): number {
  if (size <= 0) return 0
  const start = text.length - size
  const lineStart = text.indexOf("\n", start - 1) + 1
  if (lineStart > 0 && lineStart <= start + size * NEAR) return text.length - lineStart
  return splitsPair(text, start) ? size - 1 : size
}

/** The nearest position at or before `at` where a cut does not split a character. */
export const cutBefore = (text: string, at: number): number => (splitsPair(text, at) ? at - 1 : at)

/** Whether a cut at this position would split a character. */
function splitsPair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1)
  return before >= 0xd800 && before <= 0xdbff
}

/** The shape of a JSON text, in one line: `{"items": [1204 × {"id": number, "name": string}], "total": number}`. */

const MAX_TEXT = 5_000_000 // characters; parsing more would take noticeable time
const MAX_SHAPE = 600 // characters
const DEEPEST = 4
const MAX_KEYS = 12

/** Returns `undefined` if the text is not a JSON object or array. */
function jsonShape(text: string): string | undefined {
  if (text.length > MAX_TEXT || !/^\s*[{[]/.test(text)) return undefined
  try {
    const shape = shapeOf(JSON.parse(text), 0)
    return shape.length > MAX_SHAPE ? `${shape.slice(0, MAX_SHAPE)} …` : shape
  } catch {
    return undefined // it only looks like JSON
  }
}

function shapeOf(value: unknown, depth: number): string {
  if (value === null) return "null"
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]"
    return depth >= DEEPEST ? "[…]" : `[${value.length} × ${shapeOf(value[0], depth + 1)}]`
  }
  if (typeof value !== "object") return typeof value
  if (depth >= DEEPEST) return "{…}"
  const fields = Object.entries(value)
  const shown = fields.slice(0, MAX_KEYS).map(([key, field]) => `${JSON.stringify(key)}: ${shapeOf(field, depth + 1)}`)
  const more = fields.length > MAX_KEYS ? [`… ${fields.length - MAX_KEYS} more`] : []
  return `{${[...shown, ...more].join(", ")}}`
}
