/** The sessions of a project in other programs: found by working directory, newest first. Read-only. */
import { hash } from "node:crypto"
import { basename, dirname, isAbsolute, join } from "node:path"
import { mainDirectory, type Project, projectAt, projectName, readPlainStart, sharesRemote } from "@strata/core/base"
import type { TranscriptFile } from "@strata/transcripts"
import {
  getObject,
  getString,
  getStrings,
  type ImportedConversation,
  importTranscript,
  type JsonObject,
  jsonLines,
  type OpenCodeSession,
  openCodeSessions,
  parseObject,
  type TranscriptProgram,
  transcriptFiles,
} from "@strata/transcripts/import"
import type { Environment } from "./clients.ts"
import { readTranscript } from "./transcripts.ts"

const HEAD_BYTES = 128 * 1024 // number of bytes at the start of a transcript that contain its directory
const HEAD_LINES = 40
const MAX = 5_000 // newest transcripts over all projects

export interface Transcript {
  readonly program: TranscriptProgram
  readonly id: string
  /** The path of the file, or the id of the session for opencode. Unique. */
  readonly path: string
  /** Version of the transcript, different after each change. */
  readonly mark: string
  readonly bytes: number
  /** Milliseconds since 1970. */
  readonly touched: number
  readonly title?: string
  read(): Promise<ImportedConversation | undefined>
}

export interface ProjectTranscriptsOptions {
  readonly cwd: string
  readonly env: Environment
}

export class ProjectTranscripts {
  readonly #options: ProjectTranscriptsOptions
  /** Working directories by path. They never change. */
  readonly #directories = new Map<string, string>()
  /** Versions of transcripts without a directory, by path. */
  readonly #without = new Map<string, string>()
  /** Whether a directory belongs to the project, by directory. */
  readonly #own = new Map<string, Promise<boolean>>()
  #project: Promise<Project> | undefined

  constructor(options: ProjectTranscriptsOptions) {
    this.#options = options
  }

  async list(): Promise<readonly Transcript[]> {
    const { env } = this.#options
    const files = (await transcriptFiles(env)).toSorted((a, b) => b.touched - a.touched).slice(0, MAX)
    const found: Transcript[] = []
    for (const file of files) if (await this.#isOf(file)) found.push(fromFile(file))
    for (const session of openCodeSessions(env))
      if (await this.#isOwn(session.directory)) found.push(fromOpenCode(session))
    return found.sort((a, b) => b.touched - a.touched)
  }

  async #isOf(file: TranscriptFile): Promise<boolean> {
    const directory = this.#directories.get(file.path) ?? (await this.#lookedUp(file))
    return directory !== undefined && (await this.#isOwn(directory))
  }

  async #lookedUp(file: TranscriptFile): Promise<string | undefined> {
    const mark = markOf(file)
    if (this.#without.get(file.path) === mark) return undefined
    const directory = await directoryOf(file, await this.#ownDirectories())
    if (directory === undefined) this.#without.set(file.path, mark)
    else this.#directories.set(file.path, directory)
    return directory
  }

  /** Skips paths of other systems, which would be resolved below the working directory. */
  async #isOwn(directory: string): Promise<boolean> {
    if (!isAbsolute(directory)) return false
    const known = this.#own.get(directory) ?? this.#isOfProject(directory)
    this.#own.set(directory, known)
    return known
  }

  /** Whether it is the same repository, or a clone with the same remote. Git is not run in directories named by a transcript. */
  async #isOfProject(directory: string): Promise<boolean> {
    const project = await this.#named()
    const { HOME: home } = this.#options.env
    return (await mainDirectory(directory, home)) === project.directory || sharesRemote(project, directory, home)
  }

  #named(): Promise<Project> {
    this.#project ??= projectAt(this.#options)
    return this.#project
  }

  async #ownDirectories(): Promise<readonly string[]> {
    const { cwd } = this.#options
    return [cwd, (await this.#named()).directory]
  }
}

const markOf = ({ bytes, touched }: Pick<TranscriptFile, "bytes" | "touched">) => `${bytes} ${touched}`

const fromFile = (file: TranscriptFile): Transcript => ({
  ...file,
  mark: markOf(file),
  read: () => readTranscript(file.path),
})

const fromOpenCode = ({ id, touched, title, parent, read }: OpenCodeSession): Transcript => ({
  ...{ program: "opencode", id, path: `opencode:${id}`, mark: `${touched}`, bytes: 0, touched },
  ...(title === undefined ? {} : { title }),
  async read() {
    const text = read()
    const imported = text === undefined ? undefined : importTranscript({ name: id, text })[0]
    if (!imported || parent === undefined) return imported
    // an agent wrote the task of its sub-agents, not the user
    return { ...imported, messages: imported.messages.map((message) => ({ ...message, isSidechain: true })) }
  },
})

/** The working directory of a transcript. `own`: directories of the project, for programs that store only a hash or a derived name. */
async function directoryOf({ program, path }: TranscriptFile, own: readonly string[]): Promise<string | undefined> {
  const head = await headOf(path)
  if (head === undefined) return undefined
  if (program === "gemini") {
    const noted = (await headOf(join(dirname(dirname(path)), ".project_root")))?.trim()
    const hashed = /"projectHash":\s*"([0-9a-f]{64})"/.exec(head)?.[1]
    return (
      noted ||
      getStrings(parseObject(head.split("\n")[0]!), "directories")[0] ||
      own.find((one) => hash("sha256", one, "hex") === hashed)
    )
  }
  for (const { object } of jsonLines(head).take(HEAD_LINES)) {
    const directory = object && directoryIn(object)
    if (directory !== undefined) return directory
  }
  const folder = basename(dirname(path))
  return program === "claude-code" ? own.find((one) => folder === projectName(one)) : undefined
}

const directoryIn = (line: JsonObject): string | undefined =>
  getString(line, "cwd") ??
  getString(getObject(line, "payload"), "cwd") ??
  getString(getObject(getObject(line, "data"), "context"), "cwd")

async function headOf(path: string): Promise<string | undefined> {
  const start = await readPlainStart(path, HEAD_BYTES).catch(() => undefined)
  return start?.bytes.toString("utf8")
}
