/** Parses options like `getopt`: clusters, attached values, `--name=value`, `--`. */
import type { ExpandedWord } from "./expanded-word.ts"

/** The value of an option: none, a harmless value, an optional attached value, a file it reads, a file it writes. */
export type OptionKind = "flag" | "value" | "optional" | "read" | "write"

export interface OptionTable {
  /**
   * Groups of letters: `ab n: m? f< o>`. The suffix gives the kind of value: a value, an attached value, a file to read, a file to write.
   */
  readonly short?: string
  /** Names with the same suffixes: `all lines: color? file< output>`. */
  readonly long?: string
  /** Whether `-5` is an option. */
  readonly numbers?: boolean
  /** Whether options end at the first operand. */
  readonly stops?: boolean
}

export interface GivenOption {
  /** A letter or a long name. */
  readonly name: string
  readonly kind: OptionKind
  readonly value?: ExpandedWord
}

export type ParsedOptions =
  | {
      readonly state: "understood"
      readonly options: readonly GivenOption[]
      readonly operands: readonly ExpandedWord[]
      /** Number of operands before `--`, if present. */
      readonly beforeDashes?: number
    }
  | { readonly state: "not understood"; readonly why: string }

const KIND_SUFFIXES: Readonly<Record<string, OptionKind>> = { ":": "value", "?": "optional", "<": "read", ">": "write" }

interface ParsedTable {
  readonly letters: ReadonlyMap<string, OptionKind>
  readonly names: ReadonlyMap<string, OptionKind>
}
const parsedTables = new WeakMap<OptionTable, ParsedTable>()

function parseTable(table: OptionTable): ParsedTable {
  const done = parsedTables.get(table)
  if (done) return done
  const entries = (text: string) =>
    text.split(/\s+/).flatMap((group): readonly (readonly [string, OptionKind])[] => {
      const kind = KIND_SUFFIXES[group.at(-1) ?? ""]
      return group === "" ? [] : [[kind ? group.slice(0, -1) : group, kind ?? "flag"]]
    })
  const letters = entries(table.short ?? "").flatMap(([group, kind]) =>
    [...group].map((letter) => [letter, kind] as const),
  )
  const result = { letters: new Map(letters), names: new Map(entries(table.long ?? "")) }
  parsedTables.set(table, result)
  return result
}

export function parseOptions(table: OptionTable, fields: readonly ExpandedWord[]): ParsedOptions {
  const { letters, names } = parseTable(table)
  const options: GivenOption[] = []
  const operands: ExpandedWord[] = []
  let beforeDashes: number | undefined
  const rest = [...fields]
  const give = (name: string, kind: OptionKind, attached: string | undefined): boolean => {
    if (kind === "flag") return attached === undefined && options.push({ name, kind }) > 0
    if (attached !== undefined) return options.push({ name, kind, value: { text: attached } }) > 0
    if (kind === "optional") return options.push({ name, kind }) > 0
    const value = rest.shift()
    return value !== undefined && options.push({ name, kind, value }) > 0
  }
  for (let field = rest.shift(); field !== undefined; field = rest.shift()) {
    const { text } = field
    if (text === "--") {
      beforeDashes = operands.length
      operands.push(...rest)
      break
    }
    if (text === undefined || text === "-" || !text.startsWith("-")) {
      operands.push(field)
      if (!table.stops) continue
      operands.push(...rest)
      break
    }
    if (text.startsWith("--")) {
      const [name, attached] = split(text.slice(2))
      const kind = names.get(name) // abbreviations are not accepted: `--pre` of ripgrep is not short for `--pretty`
      if (kind === undefined || !give(name, kind, attached)) return notUnderstood(text)
    } else if (!(table.numbers && /^-\d+$/.test(text)) && !takeCluster(text, letters, give)) {
      return notUnderstood(text)
    }
  }
  return { state: "understood", options, operands, ...(beforeDashes === undefined ? {} : { beforeDashes }) }
}

type Give = (name: string, kind: OptionKind, attached: string | undefined) => boolean

function takeCluster(text: string, letters: ReadonlyMap<string, OptionKind>, give: Give): boolean {
  for (let at = 1; at < text.length; at++) {
    const kind = letters.get(text[at]!)
    if (kind === undefined) return false
    if (kind !== "flag") return give(text[at]!, kind, at + 1 < text.length ? text.slice(at + 1) : undefined)
    give(text[at]!, kind, undefined)
  }
  return true
}

function split(text: string): readonly [string, string | undefined] {
  const at = text.indexOf("=")
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

const notUnderstood = (option: string): ParsedOptions => ({
  state: "not understood",
  why: `has the option ${option.length > 40 ? `${option.slice(0, 40)}…` : option}, which is not known to only read`,
})
