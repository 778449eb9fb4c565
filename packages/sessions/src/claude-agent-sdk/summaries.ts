/**
 * Stores the summaries with which the SDK lists sessions. They are updated on demand from new lines: writing lines costs nothing extra, and
 * a list costs only what has changed.
 */
import type { MemoryFileChange, MemoryFiles } from "@strata/core/store"
import type { JournalLocation } from "../external/exclusive-write.ts"
import type { FoldSessionSummary, ListedSession, SessionSummaryEntry } from "./shapes.ts"
import { liveLines } from "./transcripts.ts"

const FOLDER = ".summaries"

const pathOf = (session: string) => `${FOLDER}/session-${session}.json`

/** The current state of a session. */
export interface SummarizedSession extends ListedSession {
  readonly place: JournalLocation
  readonly bytes: number
}

interface StoredSummary {
  readonly data: Record<string, unknown>
  /** Number of bytes of the journal that the summary covers. */
  readonly through: number
}

interface SummaryInput {
  readonly files: MemoryFiles
  readonly sessions: readonly SummarizedSession[]
  readonly projectKey: string
  readonly fold: FoldSessionSummary
}

export async function summariesOf({ files, sessions, projectKey, fold }: SummaryInput): Promise<SessionSummaryEntry[]> {
  const kept = new Map((await files.readAll({ folders: [FOLDER] })).map(({ path, text }) => [path, summaryIn(text)]))
  const changes: MemoryFileChange[] = []
  const summaries = await Promise.all(
    sessions.map(async ({ sessionId, mtime, place, bytes }) => {
      const path = pathOf(place.address.id)
      const found = kept.get(path)
      // a summary that covers more bytes belongs to a session that was deleted
      const before = found && found.through <= bytes ? found : undefined
      if (before?.through === bytes) return { sessionId, mtime, data: before.data }
      const { lines, end } = await liveLines(place, before?.through ?? 0)
      const previous = before && { sessionId, mtime, data: before.data }
      const { data } = fold(previous, { projectKey, sessionId }, lines, { mtime })
      changes.push({ path, text: JSON.stringify({ data, through: end } satisfies StoredSummary) })
      return { sessionId, mtime, data }
    }),
  )
  if (changes.length > 0) await files.install(changes)
  return summaries
}

/** Removes the summary of a deleted session, so that no list contains its content. */
export async function forgetSummary(files: MemoryFiles, session: string): Promise<void> {
  const path = pathOf(session)
  if ((await files.read(path)) !== undefined) await files.install([{ path, text: undefined }], { permanent: true })
}

/** Parses a stored summary. An unreadable one is computed again. */
function summaryIn(text: string | undefined): StoredSummary | undefined {
  try {
    const { data, through } = JSON.parse(text ?? "null") as Partial<StoredSummary>
    return typeof data === "object" && typeof through === "number" ? { data, through } : undefined
  } catch {
    return undefined
  }
}
