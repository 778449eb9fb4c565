/** Makes the judge of a command that only reads from a table of its options and operands. */
import type { FileUse } from "../../../../tools/command.ts"
import type { Field } from "./facts.ts"
import {
  filesInOptions,
  filesOf,
  has,
  here,
  type Judge,
  type Place,
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
  readonly maxOperands?: number
}

const never = () => false

export function reading(table: Reading): Judge {
  return (args, place) => {
    const taken = takeApart(table, args)
    if (taken.state === "not understood") return unclear(taken.why)
    const { options, operands } = taken
    if (operands.length > (table.maxOperands ?? Number.POSITIVE_INFINITY)) return unclear("may write its second file")
    const { reads, writes } = filesInOptions(options, place)
    if (table.operands === "text") return readOnly({ reads, writes })
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
    return readOnly({ reads: [...reads, ...found], writes })
  }
}

function filesBelow(file: Field, place: Place, walk: Walk): readonly FileUse[] {
  const named = filesOf(file, place)
  return file.text === undefined || named.length === 0 ? named : treeOf(named[0]!.path, place, walk)
}

export const files = (short: string, long = "", more: Partial<Reading> = {}): Judge => reading({ short, long, ...more })
export const text = (short: string, long = "", more: Partial<Reading> = {}): Judge =>
  reading({ short, long, operands: "text", ...more })
export const flagsOnly = (short: string, long = ""): Judge => text(short, long, { maxOperands: 0 })

/** Whether all options are among these. What it prints with others is not known. */
export const only =
  (names: string) =>
  (options: readonly GivenOption[]): boolean =>
    options.every(({ name }) => names.split(/\s+/).includes(name))
