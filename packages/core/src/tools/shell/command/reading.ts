/** Makes the judge of a command that only reads from a table of its options and operands. */
import type { FileUse } from "./facts.ts"
import { type Field, mayHoldSecret } from "./fields.ts"
import {
  filesInOptions,
  filesOf,
  has,
  here,
  type Judge,
  type Place,
  type PrintedPaths,
  readOnly,
  treeOf,
  unclear,
  type Walk,
} from "./judged.ts"
import { type GivenOption, type OptionTable, takeApart } from "./options.ts"

export interface Reading extends OptionTable {
  /** The operands: files to read, text, or a pattern and then files. */
  readonly operands?: "files" | "text" | "pattern and files"
  /** Options that give the pattern, so that all operands are files. */
  readonly patternOptions?: readonly string[]
  /** Without operands it reads the working directory. */
  readonly readsHere?: boolean | ((options: readonly GivenOption[]) => boolean)
  /** It reads everything below a directory. */
  readonly isTree?: (options: readonly GivenOption[]) => boolean
  /** It follows the links it meets below a directory. */
  readonly followsLinks?: (options: readonly GivenOption[]) => boolean
  readonly namesOnly?: boolean
  readonly skipsHidden?: (options: readonly GivenOption[]) => boolean
  readonly mostOperands?: number
  /** No word can make it do anything else, so words that are only known when it runs are fine. */
  readonly takesAny?: boolean
  /** Lines pass through unchanged, so paths from a pipe stay paths. */
  readonly passesLines?: (options: readonly GivenOption[]) => boolean
  /** It prints paths below what it searches. */
  readonly printsPaths?: (options: readonly GivenOption[]) => boolean
}

const never = () => false

export function reading(table: Reading): Judge {
  return (args, place) => {
    const taken = takeApart(table, table.takesAny ? args.filter(({ text }) => text !== undefined) : args)
    if (taken.state === "not understood") return unclear(taken.why)
    const { options, operands } = taken
    if (operands.length > (table.mostOperands ?? Number.POSITIVE_INFINITY)) return unclear("a second file")
    const { reads, writes } = filesInOptions(options, place)
    if (table.operands === "text") {
      if (operands.some(mayHoldSecret)) return unclear("a value of the environment")
      return readOnly({ reads, writes })
    }
    const hasPattern = table.operands === "pattern and files" && !has(options, ...(table.patternOptions ?? []))
    const files = hasPattern ? operands.slice(1) : operands
    const readsHere = typeof table.readsHere === "function" ? table.readsHere(options) : table.readsHere
    const searched = files.length === 0 && readsHere ? [here] : files
    const isTree = (table.isTree ?? never)(options)
    const walk: Walk = {
      followsLinks: (table.followsLinks ?? never)(options),
      namesOnly: table.namesOnly ?? false,
      skipsHidden: (table.skipsHidden ?? never)(options),
    }
    const found = searched.flatMap((file) => (isTree ? filesBelow(file, place, walk) : filesOf(file, place)))
    const prints =
      files.length === 0 && place.piped?.separator === "newline" && table.passesLines?.(options)
        ? place.piped
        : table.printsPaths?.(options)
          ? pathsOf(found)
          : undefined
    return readOnly({ reads: [...reads, ...found], writes, prints })
  }
}

function filesBelow(file: Field, place: Place, walk: Walk): readonly FileUse[] {
  const named = filesOf(file, place)
  return file.below || file.text === undefined || named.length === 0 ? named : treeOf(named[0]!.path, place, walk)
}

/** Without a file it names its input, not a path. */
const pathsOf = (uses: readonly FileUse[]): PrintedPaths | undefined => {
  const below = uses.map(({ path }) => path)
  return below.length > 0 && below.every((path) => path !== undefined) ? { below, separator: "newline" } : undefined
}

export const files = (short: string, long = "", more: Partial<Reading> = {}): Judge => reading({ short, long, ...more })
export const text = (short: string, long = "", more: Partial<Reading> = {}): Judge =>
  reading({ short, long, operands: "text", ...more })
export const flagsOnly = (short: string, long = ""): Judge => text(short, long, { mostOperands: 0 })

/** Whether all options are among these. What it prints with others is not known. */
export const only =
  (names: string) =>
  (options: readonly GivenOption[]): boolean =>
    options.every(({ name }) => names.split(/\s+/).includes(name))
