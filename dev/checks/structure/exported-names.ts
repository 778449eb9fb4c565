/** Counts the names a package's entries export, by following `export` statements through the sources. */
import { dirname, join, normalize } from "node:path"
import { sourceParts } from "../source-parts.ts"

export interface ExportedNames {
  readonly values: readonly string[]
  readonly types: readonly string[]
}

/** Matches `export const`, `export function` and so on. The names are values unless the keyword declares a type. */
const DECLARATION =
  /^export (?:declare )?(?:default )?(?:abstract )?(?:async )?(const|let|function\*?|class|interface|type|enum|namespace) (\w+)/gm
const LIST = /^export (type )?\{([^}]*)\}/gm
const ALL = /^export \* (?:as (\w+) )?from "([^"]+)"/gm

export function exportedNames(file: string, read: (file: string) => string): ExportedNames {
  const values = new Set<string>()
  const types = new Set<string>()
  const visit = (path: string, seen: ReadonlySet<string>) => {
    if (seen.has(path)) return
    const source = withoutComments(read(path))
    for (const [, word, name] of source.matchAll(DECLARATION))
      (word === "interface" || word === "type" ? types : values).add(name!)
    for (const [, allTypes, list] of source.matchAll(LIST))
      for (const item of list!.split(",").map((text) => text.trim())) {
        if (!item) continue
        const name = item.split(/\s+/).at(-1)!
        ;(allTypes || item.startsWith("type ") ? types : values).add(name)
      }
    for (const [, alias, from] of source.matchAll(ALL)) {
      if (alias) values.add(alias)
      else if (from!.startsWith(".")) visit(normalize(join(dirname(path), from!)), new Set([...seen, path]))
    }
  }
  visit(normalize(file), new Set())
  return { values: [...values].toSorted(), types: [...types].toSorted() }
}

const withoutComments = (source: string): string =>
  sourceParts(source)
    .filter(({ kind }) => kind !== "comment")
    .map(({ kind, text }) => (kind === "string" ? `"${text}"` : text))
    .join("")

/** The entries of a package: the sources that `exports` names. A pattern (`./internal/*`) is not an entry. */
export function entriesOf(manifest: { readonly exports?: unknown }): readonly { name: string; file: string }[] {
  const entries = typeof manifest.exports === "string" ? { ".": manifest.exports } : (manifest.exports ?? {})
  return Object.entries(entries).flatMap(([name, target]) => {
    const file = typeof target === "string" ? target : ((target as { default?: string }).default ?? "")
    return file.endsWith(".ts") && !name.includes("*") ? [{ name, file }] : []
  })
}
