/** The lines of the SDK's transcripts in journals: what is new is added, and what counts is read. */
import { uuidFrom } from "@strata/core/base"
import { externalEntry, readFrom, type Sources } from "../foreign/lines.ts"
import { inTurn, type Place, writeAlone } from "../foreign/write-alone.ts"
import type { SessionStoreEntry } from "./shapes.ts"

const MAX_REMEMBERED = 1000 // transcripts; of others it is asked again what is there

/**
 * Adds lines, each uuid once. What the SDK sends again begins with lines that are there, so a transcript whose last lines were new need not
 * be asked.
 */
export class TranscriptWriter {
  readonly #sources: Sources
  /** Journals to which the last lines were new and written, the oldest first. */
  readonly #followed = new Set<string>()

  constructor(sources: Sources) {
    this.#sources = sources
  }

  async add(place: Place, given: readonly SessionStoreEntry[]): Promise<void> {
    const lines = eachOnce(structuredClone(given)) // the caller may change them while we wait
    const key = JSON.stringify([place.address.project, place.address.under, place.address.id])
    await inTurn(place, async () => {
      const mustAsk = !this.#followed.delete(key) // added again once it is written
      const isAllNew = await writeAlone(place, async (journal) => {
        const found = journal.opening.created || !mustAsk ? [] : await journal.findMany(lines.flatMap(entryId))
        const there = new Set(found.map(({ uuid }) => uuid))
        const missing = lines.filter((line) => entryId(line).every((id) => !there.has(id)))
        const entries = missing.map((line) => this.#entry(line))
        if (entries.length > 0) await journal.append(entries, { endsTurn: true })
        return there.size === 0
      })
      if (isAllNew) this.#remember(key) // acknowledged: what fails is asked about before it is written again
    })
  }

  /** From now on it is asked what is there: something was deleted. */
  forget(): void {
    this.#followed.clear()
  }

  #entry(line: SessionStoreEntry) {
    const [uuid] = entryId(line)
    return externalEntry({ subtype: "foreign-line", line, ...(uuid === undefined ? {} : { uuid }) }, this.#sources)
  }

  #remember(key: string): void {
    this.#followed.add(key)
    for (const oldest of this.#followed) if (this.#followed.size > MAX_REMEMBERED) this.#followed.delete(oldest)
  }
}

/** The entry of a line with a uuid has one that follows from it. */
const entryId = ({ uuid }: SessionStoreEntry): readonly string[] =>
  typeof uuid === "string" ? [uuidFrom(`claude-agent-sdk\0${uuid}`)] : []

/** The lines from an offset on, and where the journal ended. */
export interface LiveLines {
  readonly lines: SessionStoreEntry[]
  readonly end: number
}

export async function liveLines(place: Place, from: number): Promise<LiveLines> {
  const lines: SessionStoreEntry[] = []
  let end = from
  for await (const { entry, next } of readFrom(place, from)) {
    if (entry?.subtype === "foreign-line") lines.push(entry.line as SessionStoreEntry)
    end = next
  }
  return { lines: eachOnce(lines), end }
}

/** Of lines with one uuid, the first: two processes may have written the same. */
export function eachOnce(lines: readonly SessionStoreEntry[]): SessionStoreEntry[] {
  const seen = new Set<string>()
  return lines.filter(({ uuid }) => typeof uuid !== "string" || (!seen.has(uuid) && seen.add(uuid)))
}
