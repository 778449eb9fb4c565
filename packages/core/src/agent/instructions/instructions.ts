/**
 * Instruction files: `AGENTS.md`, `CLAUDE.md` and rules directories. Those above the working directory are loaded at the start. Those
 * below it are loaded when a tool touches a file near them, and again when they change. `@path` imports are followed.
 */

import { readdir } from "node:fs/promises"
import { basename, dirname, isAbsolute, join, matchesGlob, relative, resolve } from "node:path"
import { factsOf, readMarkdown, realPath } from "../../base/files.ts"
import { isInside } from "../permissions/permissions.ts"
import { cutToLimit, InstructionSource, MAX_CHARACTERS, type Owner, type SourceOptions } from "./instruction-source.ts"

export interface InstructionFile {
  readonly path: string
  /** With imports filled in, without frontmatter. */
  readonly content: string
  /** The directory that it was found in, or the one above its rules directory. */
  readonly base: string
  /** Globs of the files it applies to. Absent: all files. */
  readonly paths?: readonly string[]
  /** The file on disk, if `content` shows all of it and nothing else. */
  readonly shown?: ShownFile
}

export interface ShownFile {
  /** With links followed. */
  readonly path: string
  readonly text: string
  readonly modifiedMs: number
}

const FILE_NAMES = ["AGENTS.md", "CLAUDE.md", join(".claude", "CLAUDE.md")]
const LOCAL_FILE_NAMES = ["AGENTS.local.md", "CLAUDE.local.md"]
const RULE_DIRECTORIES = [join(".strata", "rules"), join(".claude", "rules")]
const PERSONAL_RULES = "rules" // in the person's own directories
const DEEPEST_RULE = 4 // folders below a rules directory
const DEEPEST_IMPORT = 4
const MAX_FILES = 100 // instruction files in one directory

export interface InstructionOptions extends SourceOptions {
  /** The directory of the user's own instructions. */
  readonly home: string
  /** The repository's root. Instruction files from here down to the working directory apply from the start. */
  readonly project: string
  readonly cwd: string
  /** What `~` means in an import. Default: the directory above `home`. If given, the instructions in its `.claude` are the person's too. */
  readonly userHome?: string
  /** Called for each file that is attached as it is on disk. */
  readonly onShown?: (file: ShownFile) => void
}

/** Reads each directory once, however many files in it were touched. */
export function lookOnce(options: InstructionOptions): (directory: string) => Promise<readonly InstructionFile[]> {
  const seen = new Map<string, Promise<readonly InstructionFile[]>>()
  const source = new InstructionSource(options)
  return (directory) => {
    const found = seen.get(directory) ?? instructionsIn(directory, { options, source })
    seen.set(directory, found)
    return found
  }
}

/** Loads what applies to the whole conversation: the user's own, then from the project's root down to the working directory. */
export async function loadInstructions(options: InstructionOptions): Promise<readonly InstructionFile[]> {
  const files = await Promise.all(standingDirectories(options).map(lookOnce(options)))
  return files.flat().filter(({ paths }) => paths === undefined)
}

/** The directories below the working directory whose instructions apply to a file. */
export const directoriesOf = (file: string, { cwd }: InstructionOptions): readonly string[] =>
  directoriesBetween(cwd, dirname(file)).slice(1)

/** The directories whose instructions apply from the start, perhaps only to some files. */
export const standingDirectories = (options: InstructionOptions): readonly string[] => [
  ...personalDirectories(options),
  ...directoriesBetween(options.project, options.cwd),
]

const personalDirectories = ({ home, userHome }: InstructionOptions): readonly string[] => [
  home,
  ...(userHome === undefined ? [] : [join(userHome, ".claude")]),
]

/** The directories from the first to the second, both included. None if the second is not inside the first. */
function directoriesBetween(from: string, to: string): readonly string[] {
  if (!isInside(to, from)) return from === to ? [from] : []
  const steps = relative(from, to)
    .split(/[\\/]/)
    .filter((step) => step !== "")
  return [from, ...steps.map((_, i) => join(from, ...steps.slice(0, i + 1)))]
}

interface Look {
  readonly options: InstructionOptions
  readonly source: InstructionSource
}

async function instructionsIn(directory: string, look: Look): Promise<readonly InstructionFile[]> {
  // listing the names once is much faster than trying each file; some disks ignore case
  const names = new Set((await namesIn(directory)).map((name) => name.toLowerCase()))
  const isThere = (name: string) => names.has(name.split(/[\\/]/)[0]!.toLowerCase())
  const named = [...FILE_NAMES, ...LOCAL_FILE_NAMES].filter(isThere).map((name) => join(directory, name))
  const isPersonal = personalDirectories(look.options).includes(directory)
  const ruleDirectories = [...RULE_DIRECTORIES, ...(isPersonal ? [PERSONAL_RULES] : [])]
  const rules = await Promise.all(ruleDirectories.filter(isThere).map((name) => markdownIn(join(directory, name))))
  const paths = [...named, ...rules.flat()]
  if (paths.length > MAX_FILES)
    look.source.report(`${directory} has ${paths.length} instruction files. The first ${MAX_FILES} count.`)
  const owner = isPersonal ? "person" : "project"
  const found = await Promise.all(
    paths.slice(0, MAX_FILES).map((path) => load(path, { ...look, owner, base: directory })),
  )
  // AGENTS.md and CLAUDE.md are often the same file under two names
  const byContent = new Map(found.filter((file) => file !== undefined).map((file) => [file.content, file]))
  return [...byContent.values()]
}

const namesIn = (directory: string): Promise<readonly string[]> => readdir(directory).catch(() => [])

/** Also in subfolders, each once. The names are sorted, folder by folder. */
async function markdownIn(directory: string, above: readonly string[] = []): Promise<readonly string[]> {
  const real = realPath(directory)
  if (real === undefined || above.includes(real) || above.length > DEEPEST_RULE) return []
  const found: string[] = []
  for (const name of (await namesIn(directory)).toSorted()) {
    const path = join(directory, name)
    if (name.endsWith(".md")) found.push(path)
    else if (factsOf(path)?.isDirectory()) found.push(...(await markdownIn(path, [...above, real])))
    if (found.length > MAX_FILES) break
  }
  return found
}

interface Loading extends Look {
  readonly owner: Owner
  /** The directory that the instructions were found in. */
  readonly base: string
}

async function load(path: string, loading: Loading): Promise<InstructionFile | undefined> {
  const read = await loading.source.read(path, { owner: loading.owner, name: path })
  if (read === undefined) return undefined
  const { body, paths } = await splitFrontmatter(read.text)
  const filled = await withImports(body, { ...loading, path, top: path, depth: 0, seen: new Set([read.path]) })
  const content = cutToLimit(filled.trim(), { path, limit: MAX_CHARACTERS, more: read.isCut })
  if (content === "") return undefined
  const shown = !read.isCut && content === read.text.trim() ? { shown: read } : {}
  return { path, content, base: loading.base, ...(paths ? { paths } : {}), ...shown }
}

interface SplitText {
  readonly body: string
  readonly paths: readonly string[] | undefined
}

async function splitFrontmatter(text: string): Promise<SplitText> {
  const { values, body } = await readMarkdown(text)
  if (!values) return { body: text, paths: undefined }
  const paths = values.get("paths")
  // a comma inside braces belongs to the glob
  const list = typeof paths === "string" ? paths.split(/,(?![^{}]*\})/).map((path) => path.trim()) : paths
  return { body, paths: Array.isArray(list) ? list.map(String) : undefined }
}

interface ImportStep extends Loading {
  readonly path: string
  /** The instruction file that the imports started from. */
  readonly top: string
  readonly depth: number
  /** Filled in already. A file is filled in where it is first named, so the text cannot grow without end. */
  readonly seen: Set<string>
}

/** Fills in `@path` imports outside of code, at most four levels deep. One that is left out stays as it was written. */
async function withImports(text: string, step: ImportStep): Promise<string> {
  if (step.depth >= DEEPEST_IMPORT) return text
  const parts: string[] = []
  for (const [i, part] of text.split(/(```[\s\S]*?```|`[^`\n]*`)/).entries())
    parts.push(i % 2 === 1 ? part : await filledIn(part, step)) // every second part is code
  return parts.join("")
}

async function filledIn(part: string, step: ImportStep): Promise<string> {
  let filled = ""
  let at = 0
  for (const match of part.matchAll(/(^|\s)@([^\s@`]+)/g)) {
    const [whole, before = "", target = ""] = match
    const content = filled.length > MAX_CHARACTERS ? undefined : await imported(target, step)
    filled += part.slice(at, match.index) + (content === undefined ? whole : `${before}${content}`)
    at = match.index + whole.length
  }
  return filled + part.slice(at)
}

async function imported(target: string, step: ImportStep): Promise<string | undefined> {
  const { source, path: from, options, owner, seen, depth } = step
  if (source.isFull(from)) return undefined
  const file = resolveImport(target, from, options)
  const read = await source.read(file, { owner, name: `${from} imports ${target}` })
  if (read === undefined || seen.has(read.path)) return undefined
  seen.add(read.path)
  source.countImport()
  const { body } = await splitFrontmatter(read.text)
  return (await withImports(body, { ...step, path: file, depth: depth + 1 })).trim().slice(0, MAX_CHARACTERS)
}

function resolveImport(target: string, from: string, { home, userHome = dirname(home) }: InstructionOptions): string {
  if (target.startsWith("~/")) return join(userHome, target.slice(2))
  return isAbsolute(target) ? target : resolve(dirname(from), target)
}

/** Whether an instruction file with globs applies to a file. Globs count from the project, from the directory of the rules, or from `/`. */
export function isFor({ paths = [], base }: InstructionFile, file: string, { project }: InstructionOptions): boolean {
  const names = [relative(project, file), relative(base, file), file]
  return paths.some(
    (glob) =>
      names.some((name) => matchesGlob(name, glob)) || (!glob.includes("/") && matchesGlob(basename(file), glob)),
  )
}
