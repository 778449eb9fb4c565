/**
 * Splits a markdown file into frontmatter and body. Frontmatter that is not valid YAML is read line by line: people write colons and quotes
 * into descriptions, and other programs accept that.
 */

export interface MarkdownFile {
  /** `undefined` if the file has no frontmatter. */
  readonly values: ReadonlyMap<string, unknown> | undefined
  readonly body: string
}

const FENCED = /^---[ \t]*\n(?:([\s\S]*?)\n)?---[ \t]*(?:\n|$)/
const KEY_LINE = /^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/
const ITEM_LINE = /^[ \t]*-[ \t]+(.*)$/
const MOST_ALIASES = 20 // aliases can multiply without end

export async function readMarkdown(text: string): Promise<MarkdownFile> {
  const plain = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n")
  const match = FENCED.exec(plain)
  if (!match) return { values: undefined, body: plain.trim() }
  const frontmatter = match[1] ?? ""
  return {
    values: (await yamlValues(frontmatter)) ?? lineValues(frontmatter),
    body: plain.slice(match[0].length).trim(),
  }
}

/** Keys in a map, so that `__proto__` is a key like any other. `undefined` if it is not a YAML mapping. */
async function yamlValues(text: string): Promise<ReadonlyMap<string, unknown> | undefined> {
  const { isMap, parseDocument } = await import("yaml")
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: false })
  if (document.errors.length > 0) return undefined
  if (document.contents === null) return new Map()
  if (!isMap(document.contents)) return undefined
  try {
    const values: unknown = document.toJS({ maxAliasCount: MOST_ALIASES, mapAsMap: true })
    return new Map([...(values as Map<unknown, unknown>)].map(([key, value]) => [String(key), value]))
  } catch {
    return undefined
  }
}

/** `key: the rest of the line`. Lines below a key that start with a dash make a list, other lines continue its text. */
function lineValues(text: string): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>()
  let key: string | undefined
  for (const line of text.split("\n")) {
    const [, name, rest = ""] = KEY_LINE.exec(line) ?? []
    if (name !== undefined) {
      key = name
      values.set(key, unquoted(rest.trim()))
      continue
    }
    if (key === undefined || line.trim() === "") continue
    const before = values.get(key)
    const item = ITEM_LINE.exec(line)?.[1]
    if (item !== undefined && (before === "" || Array.isArray(before)))
      values.set(key, [...(Array.isArray(before) ? before : []), unquoted(item.trim())])
    else if (typeof before === "string") values.set(key, `${before} ${line.trim()}`.trim())
  }
  return values
}

const unquoted = (text: string): string => /^(["'])(.*)\1$/.exec(text)?.[2] ?? text
