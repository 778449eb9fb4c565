/**
 * Reads files that define agents or slash commands: markdown in a directory and its subfolders. Size, number and depth are limited, and a
 * project's file that leads out of the project is refused. What the texts mean is decided in `team/`.
 */
import { readdir, realpath, stat } from "node:fs/promises"
import { join, relative, sep } from "node:path"
import { errorReason } from "../base/errors.ts"
import { isMissing, PlainFileError, readPlainFile, realPath } from "../base/files.ts"
import { repositoryRoot } from "../base/git.ts"
import { escapeInvisible } from "../base/text.ts"

const MAX_BYTES = 128 * 1024 // instructions for one agent have a few kilobytes
const MAX_FILES = 100 // per directory with its subfolders: each is listed in the first request
const MAX_ENTRIES = 2_000 // checked per directory with its subfolders
const MAX_DEPTH = 4 // folders below the directory of agents
const MAX_PROBLEMS = 20 // reported per directory

export interface AgentFile {
  /** The path with links resolved. */
  readonly path: string
  /** A readable name: relative to the project's directory, or the full path. Safe to display. */
  readonly name: string
  readonly text: string
}

export interface AgentFiles {
  /** In a fixed order: by directory, then by name. */
  readonly files: readonly AgentFile[]
  /** Describes each file that cannot be read, in one sentence. */
  readonly problems: readonly string[]
}

export interface AgentFileLocations {
  /** The root directory of Strata. */
  readonly root: string
  /** The user's home directory. */
  readonly home: string | undefined
  /** The project's directory. */
  readonly cwd: string
}

/** Folders of Strata and of Claude Code. */
const FOLDERS = [".strata", ".claude"] as const
export type FileKind = "agent" | "command"
const folderName = (kind: FileKind): string => `${kind}s`

const homeFolders = ({ root, home }: Pick<AgentFileLocations, "root" | "home">, kind: FileKind): readonly string[] => [
  join(root, folderName(kind)),
  ...(home ? [join(home, ".claude", folderName(kind))] : []),
]

/** The user's files for all projects. */
export async function homeAgentFiles(
  places: Pick<AgentFileLocations, "root" | "home">,
  kind: FileKind = "agent",
): Promise<AgentFiles> {
  return joinFiles(await Promise.all(homeFolders(places, kind).map((directory) => readFolder(directory, { kind }))))
}

/** The project's files: in its directory first, then at the root of its repository. Folders of the user are excluded. */
export async function projectAgentFiles(places: AgentFileLocations, kind: FileKind = "agent"): Promise<AgentFiles> {
  const { cwd, home } = places
  const project = repositoryRoot(cwd, { home })
  const own = homeFolders(places, kind).map(resolveLinks)
  const wanted = [...new Set([cwd, project])].flatMap((directory) =>
    FOLDERS.map((folder) => join(directory, folder, folderName(kind))),
  )
  const seen = new Set(own)
  const found: AgentFiles[] = []
  for (const directory of wanted) {
    if (isMissing(directory)) continue
    const real = resolveLinks(directory)
    if (seen.has(real)) continue
    seen.add(real)
    found.push(await readFolder(directory, { kind, inProject: { project, cwd } }))
  }
  return joinFiles(found)
}

const resolveLinks = (path: string): string => realPath(path) ?? path

const joinFiles = (parts: readonly AgentFiles[]): AgentFiles => ({
  files: parts.flatMap(({ files }) => files),
  problems: parts.flatMap(({ problems }) => problems),
})

interface ProjectBounds {
  /** Files outside of it are refused. */
  readonly project: string
  readonly cwd: string
}

interface FolderOptions {
  readonly kind: FileKind
  readonly inProject?: ProjectBounds
}

async function readFolder(directory: string, { kind, inProject }: FolderOptions): Promise<AgentFiles> {
  const real = inProject && { inProject: { ...inProject, project: resolveLinks(inProject.project) } }
  const folder = new AgentFolder(directory, { kind, ...real })
  await folder.read()
  return folder
}

class AgentFolder implements AgentFiles {
  readonly files: AgentFile[] = []
  readonly problems: string[] = []
  readonly #directory: string
  readonly #inProject: ProjectBounds | undefined
  readonly #kind: FileKind
  #entries = 0
  #isCut = false
  #unsaid = 0

  constructor(directory: string, { kind, inProject }: FolderOptions) {
    this.#directory = directory
    this.#kind = kind
    this.#inProject = inProject
  }

  async read(): Promise<void> {
    const name = this.#nameOf(this.#directory)
    try {
      if (this.#leadsOut(await realpath(this.#directory)))
        this.problems.push(`The ${this.#kind}s in ${name} are not read, because the folder leads out of the project.`)
      else await this.#walk(this.#directory, 0)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== "ENOENT" && code !== "ENOTDIR")
        this.problems.push(`The ${this.#kind}s in ${name} cannot be read (${errorReason(error)}).`)
    }
    if (this.#isCut) this.problems.push(`Only the first ${this.files.length} ${this.#kind} files in ${name} are read.`)
    if (this.#unsaid > 0) this.problems.push(`${this.#unsaid} more files in ${name} cannot be used.`)
  }

  async #walk(folder: string, depth: number): Promise<void> {
    for (const name of (await readdir(folder)).toSorted()) {
      if (name.startsWith(".")) continue
      this.#isCut ||= ++this.#entries > MAX_ENTRIES
      if (this.#isCut) return
      const path = join(folder, name)
      try {
        await this.#entry(path, depth)
      } catch (error) {
        this.#refuse(
          path,
          error instanceof UnusableFileError ? error.message : `it cannot be read (${errorReason(error)})`,
        )
      }
    }
  }

  async #entry(path: string, depth: number): Promise<void> {
    const real = await realpath(path)
    const stats = await stat(real)
    if (!stats.isDirectory() && !path.toLowerCase().endsWith(".md")) return
    if (this.#leadsOut(real)) throw new UnusableFileError("it leads out of the project")
    if (stats.isDirectory()) {
      if (depth === MAX_DEPTH) throw new UnusableFileError(`it is more than ${MAX_DEPTH} folders deep`)
      return this.#walk(path, depth + 1)
    }
    if (!stats.isFile()) throw new UnusableFileError("it is not a regular file")
    if (this.files.length === MAX_FILES) this.#isCut = true
    else this.files.push({ path: real, name: this.#nameOf(path), text: await readText(real) })
  }

  #leadsOut(real: string): boolean {
    return this.#inProject !== undefined && !real.startsWith(this.#inProject.project + sep)
  }

  #nameOf(path: string): string {
    return escapeInvisible(this.#inProject ? relative(this.#inProject.cwd, path) : path)
  }

  #refuse(path: string, why: string): void {
    if (this.problems.length < MAX_PROBLEMS)
      this.problems.push(`The ${this.#kind} file ${this.#nameOf(path)} is not used, because ${why}.`)
    else this.#unsaid++
  }
}

class UnusableFileError extends Error {}

async function readText(path: string): Promise<string> {
  const bytes = await readPlainFile(path, MAX_BYTES).catch((error: unknown) => {
    throw error instanceof PlainFileError ? new UnusableFileError(error.message) : error
  })
  const text = decodeText(bytes)
  if (text.includes("\0")) throw new UnusableFileError("it is a binary file")
  return text
}

function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    throw new UnusableFileError("it is not UTF-8 text")
  }
}
