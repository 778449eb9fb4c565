/**
 * Instruction files: `AGENTS.md`, `CLAUDE.md` and rules directories. Those above the working directory are loaded at the start. Those
 * below it are loaded when a tool touches a file near them, and again when they change. `@path` imports are followed.
 */
import { readdir, readFile, realpath } from "node:fs/promises"
import { dirname, isAbsolute, join, matchesGlob, relative, resolve } from "node:path"
import { isInside } from "./permissions.ts"

export interface InstructionFile {
  readonly path: string
  /** With imports filled in, without frontmatter. */
  readonly content: string
  /** Globs of the files it applies to. Absent: all files. */
  readonly paths?: readonly string[]
}

const FILE_NAMES = ["AGENTS.md", "CLAUDE.md"]
const LOCAL_FILE_NAMES = ["AGENTS.local.md", "CLAUDE.local.md"]
const RULE_DIRECTORIES = [join(".strata", "rules"), join(".claude", "rules")]
const DEEPEST_IMPORT = 4

export interface InstructionOptions {
  /** The directory of the user's own instructions. */
  readonly home: string
  readonly project: string
  readonly cwd: string
  /** Whether a file may be read. Paths are absolute, with symlinks followed. */
  readonly mayRead: (path: string) => boolean
}

/** Reads each directory once, however many files in it were touched. */
export function lookOnce(options: InstructionOptions): (directory: string) => Promise<readonly InstructionFile[]> {
  const seen = new Map<string, Promise<readonly InstructionFile[]>>()
  return (directory) => {
    const found = seen.get(directory) ?? instructionsIn(directory, options)
    seen.set(directory, found)
    return found
  }
}

/** Loads what applies to the whole conversation: the user's own, then from the project's root down to the working directory. */
export async function loadInstructions(options: InstructionOptions): Promise<readonly InstructionFile[]> {
  const files = await Promise.all(standingDirectories(options).map((directory) => instructionsIn(directory, options)))
  return files.flat().filter(({ paths }) => paths === undefined)
}

/** The directories below the working directory whose instructions apply to a file. */
export const directoriesOf = (file: string, { cwd }: InstructionOptions): readonly string[] =>
  directoriesBetween(cwd, dirname(file)).slice(1)

/** The directories whose instructions apply from the start, perhaps only to some files. */
export const standingDirectories = ({ home, project, cwd }: InstructionOptions): readonly string[] => [
  home,
  ...directoriesBetween(project, cwd),
]

/** The directories from the first to the second, both included. None if the second is not inside the first. */
function directoriesBetween(from: string, to: string): readonly string[] {
  if (!isInside(to, from)) return from === to ? [from] : []
  const steps = relative(from, to)
    .split(/[\\/]/)
    .filter((step) => step !== "")
  return [from, ...steps.map((_, i) => join(from, ...steps.slice(0, i + 1)))]
}

async function instructionsIn(directory: string, options: InstructionOptions): Promise<readonly InstructionFile[]> {
  // listing the names once is much faster than trying each file; some disks ignore case
  const names = new Set((await namesIn(directory)).map((name) => name.toLowerCase()))
  const isThere = (name: string) => names.has(name.split(/[\\/]/)[0]!.toLowerCase())
  const named = [...FILE_NAMES, ...LOCAL_FILE_NAMES].filter(isThere).map((name) => join(directory, name))
  const rules = await Promise.all(RULE_DIRECTORIES.filter(isThere).map((name) => markdownIn(join(directory, name))))
  const found = await Promise.all([...named, ...rules.flat()].map((path) => load(path, options)))
  // AGENTS.md and CLAUDE.md are often the same file under two names
  const byContent = new Map(found.filter((file) => file !== undefined).map((file) => [file.content, file]))
  return [...byContent.values()]
}

const namesIn = (directory: string): Promise<readonly string[]> => readdir(directory).catch(() => [])

async function markdownIn(directory: string): Promise<readonly string[]> {
  const names = await namesIn(directory)
  return names
    .filter((name) => name.endsWith(".md"))
    .toSorted()
    .map((name) => join(directory, name))
}

async function load(path: string, options: InstructionOptions): Promise<InstructionFile | undefined> {
  const text = await readAllowed(path, options)
  if (text === undefined) return undefined
  const { body, paths } = await splitFrontmatter(text)
  const content = (await withImports(body, { path, options, depth: 0, seen: new Set([path]) })).trim()
  return content === "" ? undefined : { path, content, ...(paths ? { paths } : {}) }
}

async function readAllowed(path: string, { mayRead }: InstructionOptions): Promise<string | undefined> {
  try {
    const resolved = await realpath(path)
    return mayRead(resolved) ? await readFile(resolved, "utf8") : undefined
  } catch {
    return undefined // missing or unreadable: nothing to load
  }
}

interface SplitText {
  readonly body: string
  readonly paths: readonly string[] | undefined
}

async function splitFrontmatter(text: string): Promise<SplitText> {
  const match = /^---\r?\n([\s\S]*?)\r?\n---\r?\n?/.exec(text)
  if (!match) return { body: text, paths: undefined }
  const { parse } = await import("yaml")
  try {
    const { paths } = (parse(match[1]!) ?? {}) as { paths?: unknown }
    const list = typeof paths === "string" ? paths.split(",").map((path) => path.trim()) : paths
    return { body: text.slice(match[0].length), paths: Array.isArray(list) ? list.map(String) : undefined }
  } catch {
    return { body: text, paths: undefined } // not YAML, so it is part of the text
  }
}

interface ImportStep {
  readonly path: string
  readonly options: InstructionOptions
  readonly depth: number
  readonly seen: ReadonlySet<string>
}

/** Fills in `@path` imports outside of code, at most four levels deep, never in a circle. */
async function withImports(text: string, { path, options, depth, seen }: ImportStep): Promise<string> {
  if (depth >= DEEPEST_IMPORT) return text
  const parts = text.split(/(```[\s\S]*?```|`[^`\n]*`)/)
  const filled = await Promise.all(
    parts.map(async (part, i) => {
      if (i % 2 === 1) return part // code
      const imports = [...part.matchAll(/(^|\s)@([^\s@`]+)/g)]
      let result = part
      for (const [whole, before, target] of imports) {
        const file = resolveImport(target!, path, options)
        if (seen.has(file)) continue
        const content = await readAllowed(file, options)
        if (content === undefined) continue
        const { body } = await splitFrontmatter(content)
        const inner = await withImports(body, { path: file, options, depth: depth + 1, seen: new Set([...seen, file]) })
        result = result.split(whole!).join(`${before}${inner.trim()}`)
      }
      return result
    }),
  )
  return filled.join("")
}

function resolveImport(target: string, from: string, { home }: InstructionOptions): string {
  if (target.startsWith("~/")) return join(dirname(home), target.slice(2))
  return isAbsolute(target) ? target : resolve(dirname(from), target)
}

/** Whether an instruction file with globs applies to a file. */
export function isFor({ paths = [] }: InstructionFile, file: string, { project }: InstructionOptions): boolean {
  return paths.some((glob) => matchesGlob(relative(project, file), glob) || matchesGlob(file, glob))
}
