/**
 * Reads frontmatter in the form that Strata writes, much faster than a YAML parser. Anything else is left to the parser: whatever this
 * module reads, the parser reads the same way.
 */
const KEYS: ReadonlySet<string> = new Set([
  ...["name", "description", "type", "created", "confirmed", "basis", "failed", "superseded-by", "doubted-by"],
  ...["said-by", "conversation", "message", "outside", "confirmed-by"],
])
const PAIR = /^( {2})?([a-z-]+): (\S.*)$/
const OPENING = /^(source|supersedes):$/
const ITEM = /^ {2}- (\S.*)$/
/** Characters that end a line or vanish somewhere, which parsers treat in different ways. A line feed ends a line everywhere. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones
const ODD = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\uFEFF]/
const PLAIN = /^[\p{L}\p{N}(/_][^\n]*$/u
const SPECIAL = /^(?:true|false|null|0[xo][\da-f]+)$/i

type Value = string | true | readonly string[] | Readonly<Record<string, string>>

/** `undefined`: this needs a parser. */
export function readPlainFrontmatter(text: string): Readonly<Record<string, unknown>> | undefined {
  if (ODD.test(text)) return undefined
  const values: Record<string, Value> = {}
  let open: { readonly key: string; readonly pairs: Record<string, string>; readonly items: string[] } | undefined
  const put = (key: string, value: Value): boolean => {
    if (Object.hasOwn(values, key)) return false
    values[key] = value
    return true
  }
  const close = (): boolean => {
    if (!open) return true
    const { key, pairs, items } = open
    open = undefined
    const isMap = Object.keys(pairs).length > 0
    if (isMap === items.length > 0) return false // neither, or both
    return put(key, isMap ? pairs : items)
  }
  for (const line of text.split("\n")) {
    const [, indent, key, written] = PAIR.exec(line) ?? []
    const opening = key === undefined ? OPENING.exec(line)?.[1] : undefined
    const item = key === undefined ? ITEM.exec(line)?.[1] : undefined
    if (opening !== undefined) {
      if (!close()) return undefined
      open = { key: opening, pairs: {}, items: [] }
    } else if (item !== undefined) {
      const value = scalarOf(item)
      if (!open || value === undefined) return undefined
      open.items.push(value)
    } else if (key !== undefined && KEYS.has(key)) {
      const value = scalarOf(written!)
      const isFlag = key === "failed" && written === "true" && indent === undefined
      if (value === undefined && !isFlag) return undefined
      if (indent === undefined) {
        if (!close() || !put(key, value ?? true)) return undefined
      } else if (!open || Object.hasOwn(open.pairs, key)) return undefined
      else open.pairs[key] = value!
    } else return undefined
  }
  return close() ? values : undefined
}

/** A string on one line, or nothing where only a parser knows. */
function scalarOf(written: string): string | undefined {
  if (written !== written.trimEnd()) return undefined
  if (written.startsWith('"')) return doubleQuoted(written)
  if (written.startsWith("'"))
    return /^'(?:[^']|'')*'$/.test(written) ? written.slice(1, -1).replaceAll("''", "'") : undefined
  const isString = PLAIN.test(written) && !SPECIAL.test(written) && Number.isNaN(Number(written))
  return isString && !/:(?:\s|$)|\s#/.test(written) ? written : undefined
}

/** Quoted as in JSON. YAML has more escapes, and leaves lone halves of characters as they are. */
function doubleQuoted(written: string): string | undefined {
  if (!/^"(?:[^"\\]|\\["\\nt])*"$/.test(written)) return undefined
  return JSON.parse(written) as string
}
