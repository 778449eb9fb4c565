/** Commands that write files: which of their arguments are written, and which are read. With any other option the effect is unknown. */
import { basename, join } from "node:path"
import type { FileUse } from "../../../../tools/command.ts"
import {
  type AnalysisContext,
  type CommandAnalyzer,
  changesFiles,
  filesInOptions,
  filesOf,
  hasOption,
  resolveIn,
  unknownEffects,
} from "./command-effects.ts"
import type { ExpandedWord } from "./expanded-word.ts"
import { type GivenOption, type OptionTable, parseOptions } from "./options.ts"

interface WriterTable extends OptionTable {
  readonly uses: (
    operands: readonly ExpandedWord[],
    options: readonly GivenOption[],
    place: AnalysisContext,
  ) => {
    readonly reads?: readonly FileUse[]
    readonly writes?: readonly FileUse[]
  }
}

function createWriter(table: WriterTable): CommandAnalyzer {
  return (args, place) => {
    const taken = parseOptions(table, args)
    if (taken.state === "not understood") return unknownEffects(taken.why)
    const { reads, writes } = filesInOptions(taken.options, place)
    const uses = table.uses(taken.operands, taken.options, place)
    return changesFiles({ reads: [...reads, ...(uses.reads ?? [])], writes: [...writes, ...(uses.writes ?? [])] })
  }
}

/** All operands are written to. */
const writesOperands =
  (isTree: (options: readonly GivenOption[]) => boolean = () => false) =>
  (operands: readonly ExpandedWord[], options: readonly GivenOption[], place: AnalysisContext) => ({
    writes: operands.flatMap((operand) => filesOf(operand, place, { isTree: isTree(options), isDashFile: true })),
  })

const isRecursive = (options: readonly GivenOption[]): boolean =>
  hasOption(options, "r", "R", "a", "recursive", "archive")

/** The last operand is the destination. In a directory, the files keep their names. */
const writesToLast =
  ({ removesSource }: { readonly removesSource: boolean }): WriterTable["uses"] =>
  (operands, options, place) => {
    const intoDirectory = options.find(({ name }) => name === "t" || name === "target-directory")?.value
    const sources = intoDirectory ? operands : operands.slice(0, -1)
    const target = intoDirectory ?? operands.at(-1)
    const isTree = removesSource || isRecursive(options)
    const reads = sources.flatMap((source) => filesOf(source, place, { isTree }))
    const path = target?.text === undefined ? undefined : resolveIn(target.text, place)
    const isDirectory = path === undefined || place.disk?.kindOf(path) === "directory" || sources.length > 1
    const placed = sources.map(({ text }): FileUse => {
      if (path === undefined || text === undefined) return { path: undefined }
      const name = basename(text)
      const isContent = name === "." || name === ".." || text.endsWith("/")
      const written = isDirectory && !isContent ? (place.disk?.realPath(join(path, name)) ?? join(path, name)) : path
      return { path: written, ...(isTree ? { isTree } : {}) }
    })
    return { reads, writes: [...placed, ...(removesSource ? reads : [])] }
  }

const OWNER = {
  short: "cfvRhHLP",
  long: "changes silent quiet verbose recursive reference< dereference no-dereference",
}

export const WRITERS: Readonly<Record<string, CommandAnalyzer>> = {
  chgrp: createWriter({
    ...OWNER,
    uses: (operands, options, place) => writesOperands(isRecursive)(operands.slice(1), options, place),
  }),
  chmod: (args, place) => {
    const plain = args.filter(({ text }) => !/^-[rwxXst,+=ugoa]+$/.test(text ?? "")) // a file mode may start with a dash
    return createWriter({
      ...OWNER,
      uses: (operands, options, at) =>
        writesOperands(isRecursive)(operands.slice(plain.length === args.length ? 1 : 0), options, at),
    })(plain, place)
  },
  chown: createWriter({
    ...OWNER,
    uses: (operands, options, place) => writesOperands(isRecursive)(operands.slice(1), options, place),
  }),
  cp: createWriter({
    short: "abdfHilLnPpRrsTuvxZ S: t>",
    long: `archive attributes-only backup? copy-contents force interactive link dereference no-clobber no-dereference preserve? no-preserve:
      parents recursive reflink? remove-destination sparse: strip-trailing-slashes symbolic-link suffix: target-directory>
      no-target-directory update? verbose one-file-system`,
    uses: writesToLast({ removesSource: false }),
  }),
  dd: (args, place) => {
    const values = (key: string): readonly ExpandedWord[] =>
      args.flatMap((field): readonly ExpandedWord[] => {
        if (field.text === undefined) return [field]
        return field.text.startsWith(key) ? [{ text: field.text.slice(key.length) }] : []
      })
    return changesFiles({
      reads: values("if=").flatMap((file) => filesOf(file, place)),
      writes: values("of=").flatMap((file) => filesOf(file, place)),
    })
  },
  install: createWriter({
    short: "bcCdDpsTv g: m: o: S: t>",
    long: "directory group: mode: owner: preserve-timestamps strip suffix: target-directory> verbose",
    uses: (operands, options, place) =>
      hasOption(options, "d", "directory")
        ? writesOperands()(operands, options, place)
        : writesToLast({ removesSource: false })(operands, options, place),
  }),
  ln: createWriter({
    short: "bdfFiLnPrsTv S: t>",
    long: "backup? force interactive logical no-dereference physical relative symbolic suffix: target-directory> no-target-directory verbose",
    uses: writesToLast({ removesSource: false }),
  }),
  mkdir: createWriter({ short: "pvZ m:", long: "parents verbose mode:", uses: writesOperands() }),
  mkfifo: createWriter({ short: "m:", long: "mode:", uses: writesOperands() }),
  mv: createWriter({
    short: "bfinTuvZ S: t>",
    long: "backup? force interactive no-clobber strip-trailing-slashes suffix: target-directory> no-target-directory update? verbose",
    uses: writesToLast({ removesSource: true }),
  }),
  rm: createWriter({
    short: "dfiIrRvx",
    long: "force interactive? one-file-system no-preserve-root preserve-root? recursive dir verbose",
    uses: writesOperands(isRecursive),
  }),
  rmdir: createWriter({ short: "pv", long: "ignore-fail-on-non-empty parents verbose", uses: writesOperands() }),
  shred: createWriter({
    short: "fuvxz n: s:",
    long: "force iterations: remove? size: verbose exact zero",
    uses: writesOperands(),
  }),
  sponge: createWriter({ short: "a", uses: writesOperands() }),
  tee: createWriter({ short: "aip", long: "append ignore-interrupts output-error?", uses: writesOperands() }),
  touch: createWriter({
    short: "acfhm d: r< t:",
    long: "no-create date: no-dereference reference< time:",
    uses: writesOperands(),
  }),
  truncate: createWriter({ short: "co r< s:", long: "no-create io-blocks reference< size:", uses: writesOperands() }),
  unlink: createWriter({ uses: writesOperands() }),
}
