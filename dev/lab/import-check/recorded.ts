/** Facts of a recording, read from its raw JSON without the importers. Imports are compared with them. */

/** JSON of a shape that the recordings are known to have. */
export interface Raw {
  // biome-ignore lint/suspicious/noExplicitAny: raw files have no type without the importers
  readonly [key: string]: any
}

export interface RecordedFacts {
  /** Messages of the user, in order. */
  readonly userTexts: readonly string[]
  /** Files that tools and commands created, changed or deleted, with the paths of the recording. */
  readonly changed: readonly string[]
  /** Billed tokens by model. Missing if the program recorded no usage. */
  readonly billed?: Readonly<Record<string, BilledUsage>>
}

export interface BilledUsage {
  readonly requests: number
  /** Input tokens neither read from the cache nor written to it. */
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly output: number
  /** Cost that the program recorded. */
  readonly dollars?: number
}

const NOTHING: BilledUsage = { requests: 0, input: 0, cacheRead: 0, cacheWrite: 0, output: 0 }

export class Bill {
  readonly #models: Record<string, BilledUsage> = {}

  add(
    model: string,
    { requests = 1, input = 0, cacheRead = 0, cacheWrite = 0, output = 0, dollars }: Partial<BilledUsage>,
  ) {
    const before = this.#models[model] ?? NOTHING
    const cost = dollars === undefined ? {} : { dollars: (before.dollars ?? 0) + dollars }
    this.#models[model] = {
      requests: before.requests + requests,
      input: before.input + input,
      cacheRead: before.cacheRead + cacheRead,
      cacheWrite: before.cacheWrite + cacheWrite,
      output: before.output + output,
      ...cost,
    }
  }

  get models(): Readonly<Record<string, BilledUsage>> {
    return this.#models
  }
}

/** Parses the lines that are JSON and skips the rest. */
export function rawLines(text: string): readonly Raw[] {
  return text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .flatMap((line) => {
      try {
        const value: unknown = JSON.parse(line)
        return typeof value === "object" && value !== null ? [value as Raw] : []
      } catch {
        return []
      }
    })
}

/** The texts of a message's content: a string, or blocks with a text. */
export function textsIn(content: unknown): readonly string[] {
  if (typeof content === "string") return [content]
  if (!Array.isArray(content)) return []
  return content.flatMap((block: Raw) => (typeof block?.text === "string" ? [block.text] : []))
}
