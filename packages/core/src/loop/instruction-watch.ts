/**
 * Which instruction files are in the conversation, and which must be attached: new ones near files that were touched (NEST-1), and known
 * ones whose content has changed (NEST-2), each once for every change. Files are looked at before each request; that costs less than a
 * watcher and misses nothing.
 */
import type { Attachment } from "../conversation/attachments.ts"
import type { Message } from "../conversation/messages.ts"
import { type InstructionFile, type InstructionOptions, instructionsFor, loadInstructions } from "./instructions.ts"

export class InstructionWatch {
  readonly #options: InstructionOptions
  /** Content as it is in the conversation, by path. */
  readonly #known: Map<string, string>
  readonly #touched = new Set<string>()
  /** Those loaded at the start, as texts for the context preamble. */
  readonly texts: Readonly<Record<string, string>>

  private constructor(options: InstructionOptions, files: readonly InstructionFile[]) {
    this.#options = options
    this.#known = new Map(files.map(({ path, content }) => [path, content]))
    this.texts = Object.fromEntries(files.map(({ path, content }) => [`Instructions in ${path}`, content]))
  }

  static async start(options: InstructionOptions): Promise<InstructionWatch> {
    return new InstructionWatch(options, await loadInstructions(options))
  }

  get paths(): readonly string[] {
    return [...this.#known.keys()]
  }

  /** A resumed conversation holds what was attached earlier. */
  remember(messages: readonly Message[]): void {
    for (const message of messages) {
      if (message.type !== "attachment" || message.attachment.type !== "nested_memory") continue
      this.#known.set(message.attachment.path, message.attachment.content)
    }
  }

  /** What must be attached now. */
  async due(touched: readonly string[]): Promise<readonly Attachment[]> {
    for (const file of touched) this.#touched.add(file)
    const near = await Promise.all([...this.#touched].map((file) => instructionsFor(file, this.#options)))
    const standing = await loadInstructions(this.#options)
    const found = new Map([...standing, ...near.flat()].map((file) => [file.path, file.content]))
    const due = [...found].filter(([path, content]) => this.#known.get(path) !== content)
    for (const [path, content] of due) this.#known.set(path, content)
    return due.map(([path, content]) => ({ type: "nested_memory", path, content }))
  }
}
