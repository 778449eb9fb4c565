/** The shape of a JSON text, in one line: `{"items": [1204 × {"id": number, "name": string}], "total": number}`. */

const LONGEST_TEXT = 5_000_000 // characters; parsing more would take noticeable time
const LONGEST_SHAPE = 600 // characters
const DEEPEST = 4
const MOST_KEYS = 12

/** `undefined` where the text is not a JSON object or list. */
export function jsonShape(text: string): string | undefined {
  if (text.length > LONGEST_TEXT || !/^\s*[{[]/.test(text)) return undefined
  try {
    const shape = shapeOf(JSON.parse(text), 0)
    return shape.length > LONGEST_SHAPE ? `${shape.slice(0, LONGEST_SHAPE)} …` : shape
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
  const shown = fields.slice(0, MOST_KEYS).map(([key, field]) => `${JSON.stringify(key)}: ${shapeOf(field, depth + 1)}`)
  const more = fields.length > MOST_KEYS ? [`… ${fields.length - MOST_KEYS} more`] : []
  return `{${[...shown, ...more].join(", ")}}`
}
