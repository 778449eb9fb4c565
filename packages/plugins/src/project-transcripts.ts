/** The conversations of one project that other programs keep: found by their working directory, newest first. Nothing is written. */
import { hash } from "node:crypto"
import { basename, dirname, isAbsolute, join } from "node:path"
import { hasRemoteOf, mainDirectory, type Project, projectAt, projectName, readPlainStart } from "@strata/core/base"
import type { TranscriptFile } from "@strata/transcripts"
import {
  type Fields,
  fieldsAt,
  type ImportedConversation,
  importTranscript,
  jsonLines,
  type OpenCodeSession,
  openCodeSessions,
  parseFields,
  type TranscriptProgram,
  textAt,
  textsAt,
  transcriptFiles,
} from "@strata/transcripts/import"
import type { Environment } from "./clients.ts"
import { readTranscript } from "./transcripts.ts"

const HEAD_BYTES = 128 * 1024 // of a transcript: its first lines say where it was made
const HEAD_LINES = 40
const MAX = 5_000 // transcripts of all projects, the newest

export interface Transcript {
  readonly program: TranscriptProgram
  readonly id: string
  /** The file; for opencode the session. Unique. */
  readonly path: string
  /** Another one once the transcript has changed. */
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
  /** By path: the directory that a transcript names. It stays the same. */
  readonly #directories = new Map<string, string>()
  /** By path: the state of a transcript that names none yet. */
  readonly #without = new Map<string, string>()
  /** By directory: whether it is one of the project's. */
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

  /** Not a path of another system: it would be taken as one below the working directory. */
  async #isOwn(directory: string): Promise<boolean> {
    if (!isAbsolute(directory)) return false
    const known = this.#own.get(directory) ?? this.#isOfProject(directory)
    this.#own.set(directory, known)
    return known
  }

  /** The same repository, or a clone with the same remote. Git is not run in directories that a transcript names. */
  async #isOfProject(directory: string): Promise<boolean> {
    const project = await this.#named()
    const { HOME: home } = this.#options.env
    return (await mainDirectory(directory, home)) === project.directory || hasRemoteOf(project, directory, home)
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
    // an agent wrote what a sub-agent was asked, not the person
    return { ...imported, messages: imported.messages.map((message) => ({ ...message, isSidechain: true })) }
  },
})

/** Where a transcript was made. `own`: directories of the project, for programs that keep only a hash or a name made from it. */
async function directoryOf({ program, path }: TranscriptFile, own: readonly string[]): Promise<string | undefined> {
  const head = await headOf(path)
  if (head === undefined) return undefined
  if (program === "gemini") {
    const noted = (await headOf(join(dirname(dirname(path)), ".project_root")))?.trim()
    const hashed = /"projectHash":\s*"([0-9a-f]{64})"/.exec(head)?.[1]
    return (
      noted ||
      textsAt(parseFields(head.split("\n")[0]!), "directories")[0] ||
      own.find((one) => hash("sha256", one, "hex") === hashed)
    )
  }
  for (const { fields } of jsonLines(head).take(HEAD_LINES)) {
    const directory = fields && directoryIn(fields)
    if (directory !== undefined) return directory
  }
  const folder = basename(dirname(path))
  return program === "claude-code" ? own.find((one) => folder === projectName(one)) : undefined
}

const directoryIn = (line: Fields): string | undefined =>
  textAt(line, "cwd") ??
  textAt(fieldsAt(line, "payload"), "cwd") ??
  textAt(fieldsAt(fieldsAt(line, "data"), "context"), "cwd")

async function headOf(path: string): Promise<string | undefined> {
  const start = await readPlainStart(path, HEAD_BYTES).catch(() => undefined)
  return start?.bytes.toString("utf8")
}
