/** Commands that write files: which of their words are written, and which are read. An option that is not in the table leaves it unknown. */
import { basename, join } from "node:path"
import type { FileUse } from "../../../../tools/command.ts"
import type { Field } from "./facts.ts"
import { changing, filesInOptions, filesOf, has, type Judge, type Place, resolveIn, unclear } from "./judged.ts"
import { type GivenOption, type OptionTable, takeApart } from "./options.ts"

interface Writing extends OptionTable {
  readonly uses: (
    operands: readonly Field[],
    options: readonly GivenOption[],
    place: Place,
  ) => {
    readonly reads?: readonly FileUse[]
    readonly writes?: readonly FileUse[]
  }
}

function writing(table: Writing): Judge {
  return (args, place) => {
    const taken = takeApart(table, args)
    if (taken.state === "not understood") return unclear(taken.why)
    const { reads, writes } = filesInOptions(taken.options, place)
    const uses = table.uses(taken.operands, taken.options, place)
    return changing({ reads: [...reads, ...(uses.reads ?? [])], writes: [...writes, ...(uses.writes ?? [])] })
  }
}

/** All operands are written. */
const operandsWritten =
  (isTree: (options: readonly GivenOption[]) => boolean = () => false) =>
  (operands: readonly Field[], options: readonly GivenOption[], place: Place) => ({
    writes: operands.flatMap((operand) => filesOf(operand, place, { isTree: isTree(options), isDashFile: true })),
  })

const isRecursive = (options: readonly GivenOption[]): boolean => has(options, "r", "R", "a", "recursive", "archive")

/** The last operand is where the others go. In a directory they keep their names. */
const toLast =
  ({ removesSource }: { readonly removesSource: boolean }): Writing["uses"] =>
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

export const WRITERS: Readonly<Record<string, Judge>> = {
  chgrp: writing({
    ...OWNER,
    uses: (operands, options, place) => operandsWritten(isRecursive)(operands.slice(1), options, place),
  }),
  chmod: (args, place) => {
    const plain = args.filter(({ text }) => !/^-[rwxXst,+=ugoa]+$/.test(text ?? "")) // a mode may start with a dash
    return writing({
      ...OWNER,
      uses: (operands, options, at) =>
        operandsWritten(isRecursive)(operands.slice(plain.length === args.length ? 1 : 0), options, at),
    })(plain, place)
  },
  chown: writing({
    ...OWNER,
    uses: (operands, options, place) => operandsWritten(isRecursive)(operands.slice(1), options, place),
  }),
  cp: writing({
    short: "abdfHilLnPpRrsTuvxZ S: t>",
    long: `archive attributes-only backup? copy-contents force interactive link dereference no-clobber no-dereference preserve? no-preserve:
      parents recursive reflink? remove-destination sparse: strip-trailing-slashes symbolic-link suffix: target-directory>
      no-target-directory update? verbose one-file-system`,
    uses: toLast({ removesSource: false }),
  }),
  dd: (args, place) => {
    const values = (key: string): readonly Field[] =>
      args.flatMap((field): readonly Field[] => {
        if (field.text === undefined) return [field]
        return field.text.startsWith(key) ? [{ text: field.text.slice(key.length) }] : []
      })
    return changing({
      reads: values("if=").flatMap((file) => filesOf(file, place)),
      writes: values("of=").flatMap((file) => filesOf(file, place)),
    })
  },
  install: writing({
    short: "bcCdDpsTv g: m: o: S: t>",
    long: "directory group: mode: owner: preserve-timestamps strip suffix: target-directory> verbose",
    uses: (operands, options, place) =>
      has(options, "d", "directory")
        ? operandsWritten()(operands, options, place)
        : toLast({ removesSource: false })(operands, options, place),
  }),
  ln: writing({
    short: "bdfFiLnPrsTv S: t>",
    long: "backup? force interactive logical no-dereference physical relative symbolic suffix: target-directory> no-target-directory verbose",
    uses: toLast({ removesSource: false }),
  }),
  mkdir: writing({ short: "pvZ m:", long: "parents verbose mode:", uses: operandsWritten() }),
  mkfifo: writing({ short: "m:", long: "mode:", uses: operandsWritten() }),
  mv: writing({
    short: "bfinTuvZ S: t>",
    long: "backup? force interactive no-clobber strip-trailing-slashes suffix: target-directory> no-target-directory update? verbose",
    uses: toLast({ removesSource: true }),
  }),
  rm: writing({
    short: "dfiIrRvx",
    long: "force interactive? one-file-system no-preserve-root preserve-root? recursive dir verbose",
    uses: operandsWritten(isRecursive),
  }),
  rmdir: writing({ short: "pv", long: "ignore-fail-on-non-empty parents verbose", uses: operandsWritten() }),
  shred: writing({
    short: "fuvxz n: s:",
    long: "force iterations: remove? size: verbose exact zero",
    uses: operandsWritten(),
  }),
  sponge: writing({ short: "a", uses: operandsWritten() }),
  tee: writing({ short: "aip", long: "append ignore-interrupts output-error?", uses: operandsWritten() }),
  touch: writing({
    short: "acfhm d: r< t:",
    long: "no-create date: no-dereference reference< time:",
    uses: operandsWritten(),
  }),
  truncate: writing({ short: "co r< s:", long: "no-create io-blocks reference< size:", uses: operandsWritten() }),
  unlink: writing({ uses: operandsWritten() }),
}
