/**
 * Which instruction files are in the conversation, and which must be attached: new ones near files that were touched (NEST-1), and known
 * ones whose content has changed (NEST-2), each once for every change. Files are looked at before each request; that costs less than a
 * watcher and misses nothing.
 */
import type { Attachment } from "../conversation/attachments.ts"
import type { Message } from "../conversation/messages.ts"
import {
  type InstructionFile,
  type InstructionOptions,
  instructionsFor,
  loadInstructions,
  lookOnce,
} from "./instructions.ts"

export class InstructionWatch {
  readonly #options: InstructionOptions
  /** Content as it is in the conversation, by path. */
  #known: Map<string, string>
  readonly #touched = new Set<string>()
  /** Those loaded at the start, as texts for the context preamble. */
  #texts: Readonly<Record<string, string>>

  private constructor(options: InstructionOptions, files: readonly InstructionFile[]) {
    this.#options = options
    this.#known = knownFrom(files)
    this.#texts = textsFrom(files)
  }

  static async start(options: InstructionOptions): Promise<InstructionWatch> {
    return new InstructionWatch(options, await loadInstructions(options))
  }

  get texts(): Readonly<Record<string, string>> {
    return this.#texts
  }

  /** Behind a boundary everything is read again from disk; what was attached before it is due again. */
  async renew(): Promise<Readonly<Record<string, string>>> {
    const files = await loadInstructions(this.#options)
    this.#known = knownFrom(files)
    this.#texts = textsFrom(files)
    return this.#texts
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
    const look = lookOnce(this.#options)
    const near = await Promise.all([...this.#touched].map((file) => instructionsFor(file, this.#options, look)))
    const standing = await loadInstructions(this.#options, look)
    const found = new Map([...standing, ...near.flat()].map((file) => [file.path, file.content]))
    const due = [...found].filter(([path, content]) => this.#known.get(path) !== content)
    for (const [path, content] of due) this.#known.set(path, content)
    return due.map(([path, content]) => ({ type: "nested_memory", path, content }))
  }
}

const knownFrom = (files: readonly InstructionFile[]) => new Map(files.map(({ path, content }) => [path, content]))

const textsFrom = (files: readonly InstructionFile[]) =>
  Object.fromEntries(files.map(({ path, content }) => [`Instructions in ${path}`, content]))
