/** How the judge of one command answers: what its words read and write, or why that is not known. */

import type { TrustedPrograms } from "../trusted-path.ts"
import { lookBelow } from "./below.ts"
import type { Disk } from "./disk.ts"
import type { FileUse } from "./facts.ts"
import { type Field, known } from "./fields.ts"
import type { GivenOption } from "./options.ts"

/** Where a command runs. */
export interface Place {
  /** With links followed. `undefined`: not known. */
  readonly directory: string | undefined
  /** A link led to the directory. */
  readonly isLinked?: boolean
  /** The line made links before, so paths may lead elsewhere than now. */
  readonly hasNewLinks?: boolean
  readonly disk: Disk | undefined
  /** What the names of programs mean here. */
  readonly programs: TrustedPrograms | undefined
  readonly home: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** What the command before it in the pipe prints, if that is paths. */
  readonly piped?: PrintedPaths | undefined
}

/** Output that is only paths below known places. */
export interface PrintedPaths {
  readonly below: readonly string[]
  readonly separator: "newline" | "null"
}

export type Judged =
  | {
      readonly state: "understood"
      readonly isReadOnly: boolean
      readonly reads: readonly FileUse[]
      readonly writes: readonly FileUse[]
      /** It prints only paths. */
      readonly prints?: PrintedPaths | undefined
    }
  | { readonly state: "not understood"; readonly why: string }

export type Judge = (args: readonly Field[], place: Place) => Judged

export interface Uses {
  readonly reads?: readonly FileUse[]
  readonly writes?: readonly FileUse[]
  readonly prints?: PrintedPaths | undefined
}

export const readOnly = ({ reads = [], writes = [], prints }: Uses = {}): Judged => ({
  state: "understood",
  isReadOnly: writes.length === 0,
  reads,
  writes,
  ...(prints ? { prints } : {}),
})
export const changing = ({ reads = [], writes = [] }: Uses): Judged => ({
  state: "understood",
  isReadOnly: false,
  reads,
  writes,
})
export const unclear = (why: string): Judged => ({ state: "not understood", why })

/** Read and written without a trace. */
const HARMLESS_DEVICES = /^\/dev\/(?:null|zero|u?random|stdin|stdout|stderr|fd\/\d+)$/

interface NamedFiles {
  readonly isTree?: boolean
  /** After a redirection, and where a program writes, `-` is a file of that name. */
  readonly isDashFile?: boolean
}

/** The files that one word names. `-` is standard input where a program reads. */
export function filesOf(
  field: Field,
  place: Place,
  { isTree = false, isDashFile = false }: NamedFiles = {},
): readonly FileUse[] {
  if (field.below) return field.below.flatMap((path) => treeOf(path, place, { followsLinks: true }))
  const { text } = field
  if ((text === "-" && !isDashFile) || (text !== undefined && HARMLESS_DEVICES.test(text))) return []
  const path = text === undefined ? undefined : resolveIn(text, place)
  return [{ path, ...(isTree ? { isTree } : {}) }]
}

/** `undefined`: not known. */
export function resolveIn(text: string, { directory, disk, hasNewLinks }: Place): string | undefined {
  if (hasNewLinks) return undefined
  if (!text.startsWith("/") && directory === undefined) return undefined
  const path = text.startsWith("/") ? text : `${directory}/${text}`
  return disk ? disk.realPath(path) : path
}

export interface Walk {
  readonly followsLinks: boolean
  /** It looks at names only, never at what is in the files. */
  readonly namesOnly?: boolean
  readonly skipsHidden?: boolean
}

/** Everything below a path. A program that follows links also reads where they lead. */
export function treeOf(path: string | undefined, { disk }: Place, walk: Walk): readonly FileUse[] {
  const use = (at: string): FileUse =>
    walk.namesOnly ? { path: at } : { path: at, isTree: true, skipsHidden: walk.skipsHidden ?? false }
  if (path === undefined) return [{ path }]
  if (!walk.followsLinks) return [use(path)]
  const below = disk && lookBelow(path, disk)
  return below ? [path, ...below.links].map(use) : [{ path: undefined }]
}

/** The files that options name. */
export function filesInOptions(options: readonly GivenOption[], place: Place): { reads: FileUse[]; writes: FileUse[] } {
  const of = (kind: GivenOption["kind"]) =>
    options.flatMap((option) =>
      option.kind === kind && option.value ? filesOf(option.value, place, { isDashFile: kind === "write" }) : [],
    )
  return { reads: of("read"), writes: of("write") }
}

export const has = (options: readonly GivenOption[], ...names: readonly string[]): boolean =>
  options.some(({ name }) => names.includes(name))

export const here = known(".")
