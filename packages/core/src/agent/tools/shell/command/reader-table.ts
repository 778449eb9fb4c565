/** Creates the analyzer of a reading command from a table of its options and operands. */
import type { FileUse } from "../../../../tools/command.ts"
import {
  type AnalysisContext,
  type CommandAnalyzer,
  currentDirectory,
  filesInOptions,
  filesOf,
  hasOption,
  readOnly,
  treeOf,
  unknownEffects,
  type WalkOptions,
} from "./command-effects.ts"
import type { ExpandedWord } from "./expanded-word.ts"
import { type GivenOption, type OptionTable, parseOptions } from "./options.ts"

export interface ReaderTable extends OptionTable {
  /** Meaning of the operands: files to read, text, or a pattern followed by files. */
  readonly operands?: "files" | "text" | "pattern and files"
  /** Options that specify the pattern, so that all operands are files. */
  readonly patternOptions?: readonly string[]
  /** Whether it reads the working directory if there are no operands. */
  readonly readsHere?: boolean | ((options: readonly GivenOption[]) => boolean)
  /** Whether it reads directories recursively. */
  readonly isTree?: (options: readonly GivenOption[]) => boolean
  /** Whether it follows symbolic links below a directory. */
  readonly followsLinks?: (options: readonly GivenOption[]) => boolean
  readonly namesOnly?: boolean
  readonly skipsHidden?: (options: readonly GivenOption[]) => boolean
  readonly maxOperands?: number
}

const never = () => false

export function createReader(table: ReaderTable): CommandAnalyzer {
  return (args, place) => {
    const taken = parseOptions(table, args)
    if (taken.state === "not understood") return unknownEffects(taken.why)
    const { options, operands } = taken
    if (operands.length > (table.maxOperands ?? Number.POSITIVE_INFINITY))
      return unknownEffects("may write its second file")
    const { reads, writes } = filesInOptions(options, place)
    if (table.operands === "text") return readOnly({ reads, writes })
    const hasPattern = table.operands === "pattern and files" && !hasOption(options, ...(table.patternOptions ?? []))
    const files = hasPattern ? operands.slice(1) : operands
    const readsHere = typeof table.readsHere === "function" ? table.readsHere(options) : table.readsHere
    const searched = files.length === 0 && readsHere ? [currentDirectory] : files
    const isTree = (table.isTree ?? never)(options)
    const walk: WalkOptions = {
      followsLinks: (table.followsLinks ?? never)(options),
      namesOnly: table.namesOnly ?? false,
      skipsHidden: (table.skipsHidden ?? never)(options),
    }
    const found = searched.flatMap((file) => (isTree ? filesBelow(file, place, walk) : filesOf(file, place)))
    return readOnly({ reads: [...reads, ...found], writes })
  }
}

function filesBelow(file: ExpandedWord, place: AnalysisContext, walk: WalkOptions): readonly FileUse[] {
  const named = filesOf(file, place)
  return file.text === undefined || named.length === 0 ? named : treeOf(named[0]!.path, place, walk)
}

export const files = (short: string, long = "", more: Partial<ReaderTable> = {}): CommandAnalyzer =>
  createReader({ short, long, ...more })
export const text = (short: string, long = "", more: Partial<ReaderTable> = {}): CommandAnalyzer =>
  createReader({ short, long, operands: "text", ...more })
export const flagsOnly = (short: string, long = ""): CommandAnalyzer => text(short, long, { maxOperands: 0 })

/** Whether all options are among the given names. The output with other options is unknown. */
export const only =
  (names: string) =>
  (options: readonly GivenOption[]): boolean =>
    options.every(({ name }) => names.split(/\s+/).includes(name))
