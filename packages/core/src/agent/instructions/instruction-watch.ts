/**
 * Tracks which instruction files the conversation contains and which must be attached: new ones near touched files, and changed ones, once
 * for each change. Only directories that were just touched or contain instructions are scanned, so the cost does not grow with the number
 * of files.
 */
import type { Attachment } from "../../messages/attachments.ts"
import type { Message } from "../../messages/messages.ts"
import { cutToLimit, MAX_CHARACTERS } from "./instruction-source.ts"
import {
  appliesTo,
  createDirectoryLoader,
  directoriesOf,
  type InstructionFile,
  type InstructionOptions,
  initialDirectories,
  loadInstructions,
} from "./instructions.ts"

/** Reason why a file is loaded. The agent reports loads at the start itself. */
export type LoadReason = "session_start" | "nested_traversal" | "changed" | "compact"

export interface WatchOptions extends InstructionOptions {
  /** Called for every load after the start. Resolves with sentences for the user. */
  readonly onLoaded?: (path: string, reason: LoadReason) => Promise<readonly string[]>
}

/** Scope of a file with globs: the globs, and whether a matching file was touched. */
interface Scope {
  readonly globs: string
  readonly isTouched: boolean
}

export class InstructionWatch {
  readonly #options: WatchOptions
  /** Instruction contents in the conversation, by path. */
  #known: Map<string, string>
  readonly #touched = new Set<string>()
  /** Directories below the working directory that contain instructions. */
  readonly #holding = new Set<string>()
  readonly #scopes = new Map<string, Scope>()
  /** Texts of the files loaded at the start, for the context preamble. */
  #texts: Readonly<Record<string, string>>

  readonly #problems: Set<string>
  readonly #reported: Set<string>

  private constructor(options: WatchOptions, problems: Set<string>, files: readonly InstructionFile[]) {
    this.#options = options
    this.#problems = problems
    this.#reported = new Set(problems)
    this.#known = contentsByPath(files)
    this.#texts = textsByTitle(files)
  }

  static async start(options: WatchOptions): Promise<InstructionWatch> {
    const problems = new Set<string>()
    const reporting = { ...options, report: (problem: string) => void problems.add(problem) }
    const files = await loadInstructions(reporting)
    showAll(files, options)
    return new InstructionWatch(reporting, problems, files)
  }

  /** Problems with omitted files, for the user. Each is listed once. */
  get problems(): readonly string[] {
    return [...this.#problems]
  }

  /** Problems since the last call. */
  newProblems(): readonly string[] {
    const found = this.problems.filter((problem) => !this.#reported.has(problem))
    for (const problem of found) this.#reported.add(problem)
    return found
  }

  get texts(): Readonly<Record<string, string>> {
    return this.#texts
  }

  /** Reads all files again after a boundary. Files that were attached before it must be attached again. */
  async renew(): Promise<Readonly<Record<string, string>>> {
    const files = await loadInstructions(this.#options)
    showAll(files, this.#options)
    this.#known = contentsByPath(files)
    this.#texts = textsByTitle(files)
    for (const { path } of files) await this.#loaded(path, "compact")
    return this.#texts
  }

  get paths(): readonly string[] {
    return [...this.#known.keys()]
  }

  /**
   * Restores the known files of a resumed conversation from its prompt and attachments. Files that have changed in the meantime will be
   * attached, and the prompt remains the same, so that the server's cache still matches.
   */
  remember(messages: readonly Message[], preamble: string | undefined): void {
    if (preamble !== undefined)
      for (const [path, content] of this.#known) if (!isInPreamble(preamble, path, content)) this.#known.delete(path)
    for (const message of messages) {
      if (message.type !== "attachment" || message.attachment.type !== "nested_memory") continue
      const { path, content } = message.attachment
      this.#known.set(path, content)
      for (const directory of directoriesOf(path, this.#options)) this.#holding.add(directory)
    }
  }

  /** Attachments that are due after these files were touched. */
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
    const attachments = cutToSharedLimit(due)
    for (const [i, { shown, content }] of due.entries())
      if (shown && attachments[i]!.content === content) this.#options.onShown?.(shown)
    return attachments
  }

  async #loaded(path: string, reason: LoadReason): Promise<void> {
    for (const sentence of (await this.#options.onLoaded?.(path, reason)) ?? []) this.#problems.add(sentence)
  }

  async #look(touched: readonly string[]): Promise<readonly InstructionFile[]> {
    const look = createDirectoryLoader(this.#options)
    const near = new Set([...touched.flatMap((file) => directoriesOf(file, this.#options)), ...this.#holding])
    const nested = await Promise.all(
      [...near].map(async (directory) => {
        const files = await look(directory)
        if (files.length > 0) this.#holding.add(directory)
        return files
      }),
    )
    const standing = await Promise.all(initialDirectories(this.#options).map(look))
    return [...standing, ...nested].flat()
  }

  /** Whether a file that matches the globs was touched. Earlier files are checked again only if the globs changed. */
  #isTouched(file: InstructionFile, fresh: readonly string[]): boolean {
    const globs = (file.paths ?? []).join("\n")
    const known = this.#scopes.get(file.path)
    const isUnchanged = known?.globs === globs
    const isTouched =
      (isUnchanged && known.isTouched) ||
      [...(isUnchanged ? fresh : this.#touched)].some((touched) => appliesTo(file, touched, this.#options))
    this.#scopes.set(file.path, { globs, isTouched })
    return isTouched
  }
}

/** Reports complete files as shown, so that they count as read. */
function showAll(files: readonly InstructionFile[], { onShown }: InstructionOptions): void {
  for (const { shown } of files) if (shown) onShown?.(shown)
}

const contentsByPath = (files: readonly InstructionFile[]) => new Map(files.map(({ path, content }) => [path, content]))

type NestedMemory = Extract<Attachment, { type: "nested_memory" }>

/** Cuts attachments so that together they respect one limit. */
function cutToSharedLimit(due: readonly InstructionFile[]): readonly NestedMemory[] {
  let remaining = MAX_CHARACTERS
  return due.map(({ path, content }) => {
    const shown = cutToLimit(content, { path, limit: Math.max(remaining, 0), more: false })
    remaining -= content.length
    return { type: "nested_memory", path, content: shown }
  })
}

const titleOf = (path: string) => `Instructions in ${path}`

const textsByTitle = (files: readonly InstructionFile[]) =>
  Object.fromEntries(files.map(({ path, content }) => [titleOf(path), content]))

/** Whether the context preamble contains this text of a file, either completely or cut. */
function isInPreamble(preamble: string, path: string, content: string): boolean {
  const title = `# ${titleOf(path)}\n`
  const at = preamble.indexOf(title)
  if (at < 0) return false
  const shown = preamble.slice(at + title.length)
  const rest = shown.startsWith(content) ? shown.slice(content.length) : undefined
  if (rest !== undefined && (rest.startsWith("\n\n# ") || rest.startsWith("\n</system-reminder>"))) return true
  const cut = shown.indexOf("\n[cut here: ")
  return cut >= 0 && content.length > cut && content.startsWith(shown.slice(0, cut))
}
