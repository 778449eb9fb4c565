/** Reads JSON of unknown shape. Each accessor returns a value of its type, or `undefined`. */

/** A JSON object of unknown shape. */
export type JsonObject = Readonly<Record<string, unknown>>

export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
}

export function getObject(fields: JsonObject | undefined, key: string): JsonObject | undefined {
  return asObject(fields?.[key])
}

export function getString(fields: JsonObject | undefined, key: string): string | undefined {
  const value = fields?.[key]
  return typeof value === "string" ? value : undefined
}

export function getNumber(fields: JsonObject | undefined, key: string): number | undefined {
  const value = fields?.[key]
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}

export function getList(fields: JsonObject | undefined, key: string): readonly unknown[] {
  const value = fields?.[key]
  return Array.isArray(value) ? value : []
}

/** A list of objects. Any other item becomes an empty object, so that it is still counted. */
export function getObjects(fields: JsonObject | undefined, key: string): readonly JsonObject[] {
  return getList(fields, key).map((item) => asObject(item) ?? {})
}

export function getStrings(fields: JsonObject | undefined, key: string): readonly string[] {
  return getList(fields, key).filter((item) => typeof item === "string")
}

export function isTrue(fields: JsonObject | undefined, key: string): boolean {
  return fields?.[key] === true
}

/** Parses the text as a JSON object, or returns `undefined`. */
export function parseObject(text: string, parse: (text: string) => unknown = JSON.parse): JsonObject | undefined {
  try {
    return asObject(parse(text))
  } catch {
    return undefined // not JSON, or nested too deeply
  }
}

export interface JsonLine {
  readonly text: string
  /** Missing if the line is not a JSON object. */
  readonly object: JsonObject | undefined
  readonly isLast: boolean
}

/** The non-blank lines of a text or an iterable, parsed one at a time, so that reading only the first few is cheap. */
export function* jsonLines(text: string | Iterable<string>, parse?: (text: string) => unknown): Generator<JsonLine> {
  let before: string | undefined
  for (const line of typeof text === "string" ? text.split("\n") : text) {
    const trimmed = withoutByteOrderMark(line).trim()
    if (trimmed === "") continue
    if (before !== undefined) yield { text: before, object: parseObject(before, parse), isLast: false }
    before = trimmed
  }
  if (before !== undefined) yield { text: before, object: parseObject(before, parse), isLast: true }
}

/** The objects on the first lines of a file, for recognizing its format. */
export function firstObjects(text: string, count: number): readonly JsonObject[] {
  return jsonLines(text)
    .take(count)
    .flatMap((line) => (line.object ? [line.object] : []))
    .toArray()
}

export function withoutByteOrderMark(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text
}

type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** The object without its undefined fields, so that they become optional. */
export function definedOnly<T extends object>(object: T): Present<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Present<T>
}
