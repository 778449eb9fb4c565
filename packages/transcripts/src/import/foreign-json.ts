/** Reads JSON of unknown shape. Each accessor returns a value of its type, or `undefined`. */

/** A JSON object of unknown shape. */
export type Fields = Readonly<Record<string, unknown>>

export function asFields(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
}

export function fieldsAt(fields: Fields | undefined, key: string): Fields | undefined {
  return asFields(fields?.[key])
}

export function textAt(fields: Fields | undefined, key: string): string | undefined {
  const value = fields?.[key]
  return typeof value === "string" ? value : undefined
}

export function numberAt(fields: Fields | undefined, key: string): number | undefined {
  const value = fields?.[key]
  return typeof value === "number" && Number.isFinite(value) ? value : undefined
}

export function listAt(fields: Fields | undefined, key: string): readonly unknown[] {
  const value = fields?.[key]
  return Array.isArray(value) ? value : []
}

/** A list of objects. Any other item becomes an empty object, so that it is still counted. */
export function recordsAt(fields: Fields | undefined, key: string): readonly Fields[] {
  return listAt(fields, key).map((item) => asFields(item) ?? {})
}

export function textsAt(fields: Fields | undefined, key: string): readonly string[] {
  return listAt(fields, key).filter((item) => typeof item === "string")
}

export function isTrue(fields: Fields | undefined, key: string): boolean {
  return fields?.[key] === true
}

/** The text as a JSON object, or `undefined` if it is not one. */
export function parseFields(text: string, parse: (text: string) => unknown = JSON.parse): Fields | undefined {
  try {
    return asFields(parse(text))
  } catch {
    return undefined // not JSON, or nested too deeply
  }
}

export interface JsonLine {
  readonly text: string
  /** Missing if the line is not a JSON object. */
  readonly fields: Fields | undefined
  readonly isLast: boolean
}

/** The non-blank lines of a text, or of lines. They are parsed one at a time, so that reading only the first few is cheap. */
export function* jsonLines(text: string | Iterable<string>, parse?: (text: string) => unknown): Generator<JsonLine> {
  let before: string | undefined
  for (const line of typeof text === "string" ? text.split("\n") : text) {
    const trimmed = withoutByteOrderMark(line).trim()
    if (trimmed === "") continue
    if (before !== undefined) yield { text: before, fields: parseFields(before, parse), isLast: false }
    before = trimmed
  }
  if (before !== undefined) yield { text: before, fields: parseFields(before, parse), isLast: true }
}

/** The first lines of a file, for recognising it. */
export function firstFields(text: string, count: number): readonly Fields[] {
  return jsonLines(text)
    .take(count)
    .flatMap((line) => (line.fields ? [line.fields] : []))
    .toArray()
}

export function withoutByteOrderMark(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text
}

type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** The object without its undefined fields, so that they become optional. */
export function present<T extends object>(object: T): Present<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Present<T>
}
