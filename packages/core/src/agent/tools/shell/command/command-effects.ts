/** Results of analyzing one command: the files it reads and writes, or the reason why they are unknown. */

import { posix } from "node:path"
import type { FileUse } from "../../../../tools/command.ts"
import type { TrustedPrograms } from "../trusted-path.ts"
import { type Disk, isInvalidName } from "./disk.ts"
import type { ExpandedWord } from "./expanded-word.ts"
import type { GivenOption } from "./options.ts"

export const knownWord = (text: string): ExpandedWord => ({ text })

/** Context in which a command is analyzed. */
export interface AnalysisContext {
  /** Working directory with symbolic links resolved. `undefined`: unknown. */
  readonly directory: string | undefined
  /** Whether the directory was reached through a symbolic link, so that `cd ..` differs from `..` in a path. */
  readonly isLinked?: boolean
  /** `undefined` if a line is analyzed from its text alone. */
  readonly disk: Disk | undefined
  /** Resolves program names. */
  readonly programs: TrustedPrograms | undefined
  readonly home: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether a sandbox prevents writes, network access and reads of other files, so that code in other languages may run. */
  readonly hasSandbox: boolean
}

export type CommandEffects =
  | {
      readonly state: "understood"
      readonly isReadOnly: boolean
      readonly reads: readonly FileUse[]
      readonly writes: readonly FileUse[]
      /** Commands that it starts. */
      readonly starts?: readonly (readonly ExpandedWord[])[]
    }
  /** `why` follows the name of the program: "runs code", "can write files". */
  | { readonly state: "not understood"; readonly why: string }

export type CommandAnalyzer = (args: readonly ExpandedWord[], place: AnalysisContext) => CommandEffects

export interface EffectInput {
  readonly reads?: readonly FileUse[]
  readonly writes?: readonly FileUse[]
  readonly starts?: readonly (readonly ExpandedWord[])[]
}

export const changesFiles = ({
  reads = [],
  writes = [],
  starts = [],
}: EffectInput): Extract<CommandEffects, { state: "understood" }> => ({
  state: "understood",
  isReadOnly: false,
  reads,
  writes,
  ...(starts.length > 0 ? { starts } : {}),
})
export const readOnly = (uses: EffectInput = {}): CommandEffects => ({
  ...changesFiles(uses),
  isReadOnly: (uses.writes ?? []).length === 0,
})
/** Reason for interpreters and for programs that run scripts of a project. */
export const RUNS_ANYTHING = "runs code that can do anything"
export const unknownEffects = (why: string): CommandEffects => ({ state: "not understood", why })

/** Devices that can be read and written without effect. */
const HARMLESS_DEVICES = /^\/dev\/(?:null|zero|u?random|stdin|stdout|stderr|fd\/\d+)$/

interface NamedFiles {
  readonly isTree?: boolean
  /** Whether `-` is a file name, as after a redirection or in output arguments. */
  readonly isDashFile?: boolean
}

/** The file that an argument names. `-` is standard input for reading programs. */
export function filesOf(
  field: ExpandedWord,
  place: AnalysisContext,
  { isTree = false, isDashFile = false }: NamedFiles = {},
): readonly FileUse[] {
  const { text } = field
  if ((text === "-" && !isDashFile) || (text !== undefined && HARMLESS_DEVICES.test(text))) return []
  const path = text === undefined ? undefined : resolveIn(text, place)
  return [{ path, ...(isTree ? { isTree } : {}) }]
}

/** Resolves a path. `undefined`: unknown. */
export function resolveIn(text: string, { directory, disk }: AnalysisContext): string | undefined {
  if (!text.startsWith("/") && directory === undefined) return undefined
  const path = text.startsWith("/") ? text : `${directory}/${text}`
  return disk ? disk.realPath(path) : posix.normalize(path)
}

export interface WalkOptions {
  readonly followsLinks: boolean
  /** Whether only names are read, and no file contents. */
  readonly namesOnly?: boolean
  readonly skipsHidden?: boolean
}

/** All files below a path. A program that follows symbolic links also reads their targets. */
export function treeOf(path: string | undefined, { disk }: AnalysisContext, walk: WalkOptions): readonly FileUse[] {
  const use = (at: string): FileUse =>
    walk.namesOnly ? { path: at } : { path: at, isTree: true, skipsHidden: walk.skipsHidden ?? false }
  if (path === undefined) return [{ path }]
  if (!walk.followsLinks) return [use(path)]
  const links = disk && linksBelow(path, disk)
  return links ? [path, ...links].map(use) : [{ path: undefined }]
}

const MAX_LINKS_FOLLOWED = 200

/** Targets of symbolic links below a directory, recursively. `undefined` if there are too many to determine. */
function linksBelow(place: string, disk: Disk): readonly string[] | undefined {
  const links = new Set<string>()
  const pending = [place]
  const seen = new Set<string>()
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    if (seen.has(directory) || disk.kindOf(directory) !== "directory") continue
    seen.add(directory)
    const entries = disk.list(directory)
    if (!entries) return disk.isExhausted ? undefined : [...links]
    for (const entry of entries) {
      const path = `${directory === "/" ? "" : directory}/${entry.name}`
      if (entry.isDirectory()) pending.push(path)
      if (!entry.isSymbolicLink()) continue
      const target = isInvalidName(entry.name) ? undefined : disk.realPath(path)
      if (target === undefined || links.size > MAX_LINKS_FOLLOWED) return undefined
      links.add(target)
      pending.push(target)
    }
  }
  return [...links]
}

/** Files named in options. */
export function filesInOptions(
  options: readonly GivenOption[],
  place: AnalysisContext,
): { reads: FileUse[]; writes: FileUse[] } {
  const of = (kind: GivenOption["kind"]) =>
    options.flatMap((option) =>
      option.kind === kind && option.value ? filesOf(option.value, place, { isDashFile: kind === "write" }) : [],
    )
  return { reads: of("read"), writes: of("write") }
}

export const hasOption = (options: readonly GivenOption[], ...names: readonly string[]): boolean =>
  options.some(({ name }) => names.includes(name))

export const currentDirectory = knownWord(".")
