/**
 * Tracks which instruction files the conversation has, and which must be attached: new ones near touched files, and known ones that
 * changed, once for each change. It looks only into directories just touched and those that hold instructions, so the cost does not grow
 * with the files the conversation has seen.
 */
import type { Attachment } from "../../messages/attachments.ts"
import type { Message } from "../../messages/messages.ts"
import { cutToLimit, MAX_CHARACTERS } from "./instruction-source.ts"
import {
  directoriesOf,
  type InstructionFile,
  type InstructionOptions,
  isFor,
  loadInstructions,
  lookOnce,
  standingDirectories,
} from "./instructions.ts"

/** Why a file is loaded. At the start, the agent itself reports the loads. */
export type LoadReason = "session_start" | "nested_traversal" | "changed" | "compact"

export interface WatchOptions extends InstructionOptions {
  /** Learns of every load after the start. Answers with sentences for the person. */
  readonly onLoaded?: (path: string, reason: LoadReason) => Promise<readonly string[]>
}

/** For a file with globs: the globs, and whether a matching file was touched. */
interface Scope {
  readonly globs: string
  readonly isTouched: boolean
}

export class InstructionWatch {
  readonly #options: WatchOptions
  /** Content in the conversation, by path. */
  #known: Map<string, string>
  readonly #touched = new Set<string>()
  /** Directories below the working directory in which instructions were found. */
  readonly #holding = new Set<string>()
  readonly #scopes = new Map<string, Scope>()
  /** The files loaded at the start, as texts for the context preamble. */
  #texts: Readonly<Record<string, string>>

  readonly #problems: Set<string>
  readonly #reported: Set<string>

  private constructor(options: WatchOptions, problems: Set<string>, files: readonly InstructionFile[]) {
    this.#options = options
    this.#problems = problems
    this.#reported = new Set(problems)
    this.#known = knownFrom(files)
    this.#texts = textsFrom(files)
  }

  static async start(options: WatchOptions): Promise<InstructionWatch> {
    const problems = new Set<string>()
    const reporting = { ...options, report: (problem: string) => void problems.add(problem) }
    const files = await loadInstructions(reporting)
    showAll(files, options)
    return new InstructionWatch(reporting, problems, files)
  }

  /** What was left out, for the person. Each is named once. */
  get problems(): readonly string[] {
    return [...this.#problems]
  }

  /** What was left out since the last call. */
  newProblems(): readonly string[] {
    const found = this.problems.filter((problem) => !this.#reported.has(problem))
    for (const problem of found) this.#reported.add(problem)
    return found
  }

  get texts(): Readonly<Record<string, string>> {
    return this.#texts
  }

  /** After a boundary all files are read again, and files attached before it are due again. */
  async renew(): Promise<Readonly<Record<string, string>>> {
    const files = await loadInstructions(this.#options)
    showAll(files, this.#options)
    this.#known = knownFrom(files)
    this.#texts = textsFrom(files)
    for (const { path } of files) await this.#loaded(path, "compact")
    return this.#texts
  }

  get paths(): readonly string[] {
    return [...this.#known.keys()]
  }

  /**
   * A resumed conversation has the files in its prompt and those attached since. Files that have changed meanwhile are due: the prompt
   * stays as it is, so the server's cache still fits.
   */
  remember(messages: readonly Message[], preamble: string | undefined): void {
    if (preamble !== undefined)
      for (const [path, content] of this.#known) if (!isIn(preamble, path, content)) this.#known.delete(path)
    for (const message of messages) {
      if (message.type !== "attachment" || message.attachment.type !== "nested_memory") continue
      const { path, content } = message.attachment
      this.#known.set(path, content)
      for (const directory of directoriesOf(path, this.#options)) this.#holding.add(directory)
    }
  }

  /** What must be attached now. */
  async due(touched: readonly string[]): Promise<readonly Attachment[]> {
    const fresh = touched.filter((file) => !this.#touched.has(file))
    for (const file of fresh) this.#touched.add(file)
    const found = await this.#look(touched)
    const relevant = found.filter((file) => file.paths === undefined || this.#isTouched(file, fresh))
    const files = new Map(relevant.map((file) => [file.path, file]))
    const due = [...files.values()].filter(({ path, content }) => this.#known.get(path) !== content)
    for (const { path, content } of due) {
      await this.#loaded(path, this.#known.has(path) ? "changed" : "nested_traversal")
      this.#known.set(path, content)
    }
    const attachments = withinLimit(due)
    for (const [i, { shown, content }] of due.entries())
      if (shown && attachments[i]!.content === content) this.#options.onShown?.(shown)
    return attachments
  }

  async #loaded(path: string, reason: LoadReason): Promise<void> {
    for (const said of (await this.#options.onLoaded?.(path, reason)) ?? []) this.#problems.add(said)
  }

  async #look(touched: readonly string[]): Promise<readonly InstructionFile[]> {
    const look = lookOnce(this.#options)
    const near = new Set([...touched.flatMap((file) => directoriesOf(file, this.#options)), ...this.#holding])
    const nested = await Promise.all(
      [...near].map(async (directory) => {
        const files = await look(directory)
        if (files.length > 0) this.#holding.add(directory)
        return files
      }),
    )
    const standing = await Promise.all(standingDirectories(this.#options).map(look))
    return [...standing, ...nested].flat()
  }

  /** Files touched earlier are checked again only if the globs changed. */
  #isTouched(file: InstructionFile, fresh: readonly string[]): boolean {
    const globs = (file.paths ?? []).join("\n")
    const known = this.#scopes.get(file.path)
    const isSame = known?.globs === globs
    const isTouched =
      (isSame && known.isTouched) ||
      [...(isSame ? fresh : this.#touched)].some((touched) => isFor(file, touched, this.#options))
    this.#scopes.set(file.path, { globs, isTouched })
    return isTouched
  }
}

/** The prompt has all of them, so they count as read. */
function showAll(files: readonly InstructionFile[], { onShown }: InstructionOptions): void {
  for (const { shown } of files) if (shown) onShown?.(shown)
}

const knownFrom = (files: readonly InstructionFile[]) => new Map(files.map(({ path, content }) => [path, content]))

type NestedMemory = Extract<Attachment, { type: "nested_memory" }>

/** All that is attached at once shares one limit. */
function withinLimit(due: readonly InstructionFile[]): readonly NestedMemory[] {
  let left = MAX_CHARACTERS
  return due.map(({ path, content }) => {
    const shown = cutToLimit(content, { path, limit: Math.max(left, 0), more: false })
    left -= content.length
    return { type: "nested_memory", path, content: shown }
  })
}

const titleOf = (path: string) => `Instructions in ${path}`

const textsFrom = (files: readonly InstructionFile[]) =>
  Object.fromEntries(files.map(({ path, content }) => [titleOf(path), content]))

/** Whether the context preamble has this text for a file: the whole of it, or its beginning where the preamble was cut. */
function isIn(preamble: string, path: string, content: string): boolean {
  const title = `# ${titleOf(path)}\n`
  const at = preamble.indexOf(title)
  if (at < 0) return false
  const shown = preamble.slice(at + title.length)
  const rest = shown.startsWith(content) ? shown.slice(content.length) : undefined
  if (rest !== undefined && (rest.startsWith("\n\n# ") || rest.startsWith("\n</system-reminder>"))) return true
  const cut = shown.indexOf("\n[cut here: ")
  return cut >= 0 && content.length > cut && content.startsWith(shown.slice(0, cut))
}
