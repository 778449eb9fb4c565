/**
 * Instruction files: `AGENTS.md`, `CLAUDE.md` and rules directories. Files in the working directory and above are loaded at the start.
 * Files below it are loaded when a tool touches a file near them, and again when they change. `@path` imports are followed.
 */

import { readdir } from "node:fs/promises"
import { basename, dirname, isAbsolute, join, matchesGlob, relative, resolve } from "node:path"
import { readMarkdown, realPath, statIfReachable } from "../../base/files.ts"
import { isInside } from "../permissions/permissions.ts"
import {
  cutToLimit,
  type InstructionOwner,
  InstructionSource,
  type InstructionSourceOptions,
  MAX_CHARACTERS,
} from "./instruction-source.ts"

export interface InstructionFile {
  readonly path: string
  /** Content with imports expanded, without frontmatter. */
  readonly content: string
  /** Directory of the file, or the parent of its rules directory. */
  readonly base: string
  /** Globs of the files it applies to. Absent: all files. */
  readonly paths?: readonly string[]
  /** The file on disk, if `content` is exactly its text. */
  readonly shown?: ShownFile
}

export interface ShownFile {
  /** Path with symbolic links resolved. */
  readonly path: string
  readonly text: string
  readonly modifiedMs: number
}

const FILE_NAMES = ["AGENTS.md", "CLAUDE.md", join(".claude", "CLAUDE.md")]
const LOCAL_FILE_NAMES = ["AGENTS.local.md", "CLAUDE.local.md"]
const RULE_DIRECTORIES = [join(".strata", "rules"), join(".claude", "rules")]
const USER_RULES = "rules" // in the user's directories
const MAX_RULE_DEPTH = 4 // directory levels below a rules directory
const MAX_IMPORT_DEPTH = 4
const MAX_FILES = 100 // instruction files in one directory

export interface InstructionOptions extends InstructionSourceOptions {
  /** Directory of the user's instructions. */
  readonly home: string
  /** Root of the repository. Instruction files from here down to the working directory apply from the start. */
  readonly project: string
  readonly cwd: string
  /** Meaning of `~` in an import. Default: the parent of `home`. If set, instructions in its `.claude` directory are the user's too. */
  readonly userHome?: string
  /** Called for each file that is attached unchanged. */
  readonly onShown?: (file: ShownFile) => void
}

/** Returns a function that loads the instructions of a directory, and reads each directory once. */
export function createDirectoryLoader(
  options: InstructionOptions,
): (directory: string) => Promise<readonly InstructionFile[]> {
  const seen = new Map<string, Promise<readonly InstructionFile[]>>()
  const source = new InstructionSource(options)
  return (directory) => {
    const found = seen.get(directory) ?? instructionsIn(directory, { options, source })
    seen.set(directory, found)
    return found
  }
}

/** Loads instructions for the complete conversation: the user's, then those from the project's root down to the working directory. */
export async function loadInstructions(options: InstructionOptions): Promise<readonly InstructionFile[]> {
  const files = await Promise.all(initialDirectories(options).map(createDirectoryLoader(options)))
  return files.flat().filter(({ paths }) => paths === undefined)
}

/** Directories below the working directory whose instructions apply to a file. */
export const directoriesOf = (file: string, { cwd }: InstructionOptions): readonly string[] =>
  directoriesBetween(cwd, dirname(file)).slice(1)

/** Directories whose instructions apply from the start, possibly to some files only. */
export const initialDirectories = (options: InstructionOptions): readonly string[] => [
  ...userDirectories(options),
  ...directoriesBetween(options.project, options.cwd),
]

const userDirectories = ({ home, userHome }: InstructionOptions): readonly string[] => [
  home,
  ...(userHome === undefined ? [] : [join(userHome, ".claude")]),
]

/** Directories from the first to the second, both included. Empty if the second is not inside the first. */
function directoriesBetween(from: string, to: string): readonly string[] {
  if (!isInside(to, from)) return from === to ? [from] : []
  const steps = relative(from, to)
    .split(/[\\/]/)
    .filter((step) => step !== "")
  return [from, ...steps.map((_, i) => join(from, ...steps.slice(0, i + 1)))]
}

interface ScanContext {
  readonly options: InstructionOptions
  readonly source: InstructionSource
}

async function instructionsIn(directory: string, scan: ScanContext): Promise<readonly InstructionFile[]> {
  // listing names once is much faster than trying each file; some file systems ignore case
  const names = new Set((await namesIn(directory)).map((name) => name.toLowerCase()))
  const isThere = (name: string) => names.has(name.split(/[\\/]/)[0]!.toLowerCase())
  const named = [...FILE_NAMES, ...LOCAL_FILE_NAMES].filter(isThere).map((name) => join(directory, name))
  const isUserDirectory = userDirectories(scan.options).includes(directory)
  const ruleDirectories = [...RULE_DIRECTORIES, ...(isUserDirectory ? [USER_RULES] : [])]
  const rules = await Promise.all(ruleDirectories.filter(isThere).map((name) => markdownIn(join(directory, name))))
  const paths = [...named, ...rules.flat()]
  if (paths.length > MAX_FILES)
    scan.source.report(`${directory} has ${paths.length} instruction files. The first ${MAX_FILES} count.`)
  const owner = isUserDirectory ? "person" : "project"
  const found = await Promise.all(
    paths.slice(0, MAX_FILES).map((path) => load(path, { ...scan, owner, base: directory })),
  )
  // AGENTS.md and CLAUDE.md are often the same file under two names
  const byContent = new Map(found.filter((file) => file !== undefined).map((file) => [file.content, file]))
  return [...byContent.values()]
}

const namesIn = (directory: string): Promise<readonly string[]> => readdir(directory).catch(() => [])

/** Markdown files of a directory and its subdirectories, sorted per directory. Each directory is visited once. */
async function markdownIn(directory: string, above: readonly string[] = []): Promise<readonly string[]> {
  const real = realPath(directory)
  if (real === undefined || above.includes(real) || above.length > MAX_RULE_DEPTH) return []
  const found: string[] = []
  for (const name of (await namesIn(directory)).toSorted()) {
    const path = join(directory, name)
    if (name.endsWith(".md")) found.push(path)
    else if (statIfReachable(path)?.isDirectory()) found.push(...(await markdownIn(path, [...above, real])))
    if (found.length > MAX_FILES) break
  }
  return found
}

interface LoadInput extends ScanContext {
  readonly owner: InstructionOwner
  /** Directory of the instruction file. */
  readonly base: string
}

async function load(path: string, loading: LoadInput): Promise<InstructionFile | undefined> {
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

interface ImportStep extends LoadInput {
  readonly path: string
  /** The instruction file with the first import. */
  readonly top: string
  readonly depth: number
  /** Imported paths. A file is imported at its first mention only, so that the text cannot grow without limit. */
  readonly seen: Set<string>
}

/** Expands `@path` imports outside code, at most four levels deep. Omitted imports remain as written. */
async function withImports(text: string, step: ImportStep): Promise<string> {
  if (step.depth >= MAX_IMPORT_DEPTH) return text
  const parts: string[] = []
  for (const [i, part] of text.split(/(```[\s\S]*?```|`[^`\n]*`)/).entries())
    parts.push(i % 2 === 1 ? part : await expandImports(part, step)) // odd parts are code
  return parts.join("")
}

async function expandImports(part: string, step: ImportStep): Promise<string> {
  let filled = ""
  let at = 0
  for (const match of part.matchAll(/(^|\s)@([^\s@`]+)/g)) {
    const [whole, before = "", target = ""] = match
    const content = filled.length > MAX_CHARACTERS ? undefined : await importFile(target, step)
    filled += part.slice(at, match.index) + (content === undefined ? whole : `${before}${content}`)
    at = match.index + whole.length
  }
  return filled + part.slice(at)
}

async function importFile(target: string, step: ImportStep): Promise<string | undefined> {
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

/**
 * Whether an instruction file with globs applies to a file. Globs are relative to the project or the directory of the rules, or absolute.
 */
export function appliesTo(
  { paths = [], base }: InstructionFile,
  file: string,
  { project }: InstructionOptions,
): boolean {
  const names = [relative(project, file), relative(base, file), file]
  return paths.some(
    (glob) =>
      names.some((name) => matchesGlob(name, glob)) || (!glob.includes("/") && matchesGlob(basename(file), glob)),
  )
}
