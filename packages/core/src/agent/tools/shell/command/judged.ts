/** How the judge of one command answers: what its words read and write, or why that is not known. */

import { posix } from "node:path"
import type { FileUse } from "../../../../tools/command.ts"
import type { TrustedPrograms } from "../trusted-path.ts"
import { type Disk, isNoText } from "./disk.ts"
import type { Field } from "./facts.ts"
import type { GivenOption } from "./options.ts"

export const known = (text: string): Field => ({ text })

/** Where a command runs. */
export interface Place {
  /** With links followed. `undefined`: not known. */
  readonly directory: string | undefined
  /** A link led to the directory, so `cd ..` leads elsewhere than `..` in a path. */
  readonly isLinked?: boolean
  /** Absent where a line is judged by its words alone. */
  readonly disk: Disk | undefined
  /** What the names of programs mean here. */
  readonly programs: TrustedPrograms | undefined
  readonly home: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** A sandbox keeps it from writing, from the network and from other files, so a program in a language of its own may run. */
  readonly hasSandbox: boolean
}

export type Judged =
  | {
      readonly state: "understood"
      readonly isReadOnly: boolean
      readonly reads: readonly FileUse[]
      readonly writes: readonly FileUse[]
      /** The commands that it starts in turn. */
      readonly starts?: readonly (readonly Field[])[]
    }
  /** `why` goes on after the name of the program: "runs code", "can write files". */
  | { readonly state: "not understood"; readonly why: string }

export type Judge = (args: readonly Field[], place: Place) => Judged

export interface Uses {
  readonly reads?: readonly FileUse[]
  readonly writes?: readonly FileUse[]
  readonly starts?: readonly (readonly Field[])[]
}

export const changing = ({ reads = [], writes = [], starts = [] }: Uses): Extract<Judged, { state: "understood" }> => ({
  state: "understood",
  isReadOnly: false,
  reads,
  writes,
  ...(starts.length > 0 ? { starts } : {}),
})
export const readOnly = (uses: Uses = {}): Judged => ({
  ...changing(uses),
  isReadOnly: (uses.writes ?? []).length === 0,
})
/** Interpreters and everything that runs scripts of a project. */
export const RUNS_ANYTHING = "runs code that can do anything"
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
  const { text } = field
  if ((text === "-" && !isDashFile) || (text !== undefined && HARMLESS_DEVICES.test(text))) return []
  const path = text === undefined ? undefined : resolveIn(text, place)
  return [{ path, ...(isTree ? { isTree } : {}) }]
}

/** `undefined`: not known. */
export function resolveIn(text: string, { directory, disk }: Place): string | undefined {
  if (!text.startsWith("/") && directory === undefined) return undefined
  const path = text.startsWith("/") ? text : `${directory}/${text}`
  return disk ? disk.realPath(path) : posix.normalize(path)
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
  const links = disk && linksBelow(path, disk)
  return links ? [path, ...links].map(use) : [{ path: undefined }]
}

const MAX_LINKS_FOLLOWED = 200

/** Where the links below a directory lead, and where the links there lead. `undefined`: there is too much below it to know. */
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
      const target = isNoText(entry.name) ? undefined : disk.realPath(path)
      if (target === undefined || links.size > MAX_LINKS_FOLLOWED) return undefined
      links.add(target)
      pending.push(target)
    }
  }
  return [...links]
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
