/** Writes the SDK's transcript lines to journals and reads them back. */
import { uuidFrom } from "@strata/core/base"
import { enqueue, type JournalLocation, writeExclusively } from "../external/exclusive-write.ts"
import { type EntrySources, externalEntry, readFrom } from "../external/lines.ts"
import type { SessionStoreEntry } from "./shapes.ts"

const MAX_REMEMBERED = 1000 // transcripts; for others the stored lines are checked again

/**
 * Adds lines, each uuid once. If the SDK sends lines again, the first ones are stored already. So a transcript whose last lines were all
 * new need not be checked.
 */
export class TranscriptWriter {
  readonly #sources: EntrySources
  /** Journals whose last lines were all new and acknowledged, oldest first. */
  readonly #upToDate = new Set<string>()

  constructor(sources: EntrySources) {
    this.#sources = sources
  }

  async add(place: JournalLocation, input: readonly SessionStoreEntry[]): Promise<void> {
    const lines = withoutDuplicates(structuredClone(input)) // the caller may change them during the wait
    const key = JSON.stringify([place.address.project, place.address.under, place.address.id])
    await enqueue(place, async () => {
      const mustCheck = !this.#upToDate.delete(key) // added again after the write
      const isAllNew = await writeExclusively(place, async (journal) => {
        const found = journal.opening.created || !mustCheck ? [] : await journal.findMany(lines.flatMap(entryId))
        const stored = new Set(found.map(({ uuid }) => uuid))
        const missing = lines.filter((line) => entryId(line).every((id) => !stored.has(id)))
        const entries = missing.map((line) => this.#entry(line))
        if (entries.length > 0) await journal.append(entries, { endsTurn: true })
        return stored.size === 0
      })
      if (isAllNew) this.#remember(key) // only after acknowledgement: a failed write is checked before it is repeated
    })
  }

  /** Requires a check before the next write to each journal, because lines were deleted. */
  forget(): void {
    this.#upToDate.clear()
  }

  #entry(line: SessionStoreEntry) {
    const [uuid] = entryId(line)
    return externalEntry({ subtype: "foreign-line", line, ...(uuid === undefined ? {} : { uuid }) }, this.#sources)
  }

  #remember(key: string): void {
    this.#upToDate.add(key)
    for (const oldest of this.#upToDate) if (this.#upToDate.size > MAX_REMEMBERED) this.#upToDate.delete(oldest)
  }
}

/** Entry id derived from the uuid of a line, if it has one. */
const entryId = ({ uuid }: SessionStoreEntry): readonly string[] =>
  typeof uuid === "string" ? [uuidFrom(`claude-agent-sdk\0${uuid}`)] : []

/** Lines from an offset on, and the end of the journal. */
export interface LiveLines {
  readonly lines: SessionStoreEntry[]
  readonly end: number
}

export async function liveLines(place: JournalLocation, from: number): Promise<LiveLines> {
  const lines: SessionStoreEntry[] = []
  let end = from
  for await (const { entry, next } of readFrom(place, from)) {
    if (entry?.subtype === "foreign-line") lines.push(entry.line as SessionStoreEntry)
    end = next
  }
  return { lines: withoutDuplicates(lines), end }
}

/** Keeps the first of lines with the same uuid: two processes may have written the same line. */
export function withoutDuplicates(lines: readonly SessionStoreEntry[]): SessionStoreEntry[] {
  const seen = new Set<string>()
  return lines.filter(({ uuid }) => typeof uuid !== "string" || (!seen.has(uuid) && seen.add(uuid)))
}
