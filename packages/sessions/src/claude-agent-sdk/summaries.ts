/**
 * What the SDK knows of each session without its lines. It is brought up to date when it is asked for, from the lines that are new since
 * then: writing lines costs nothing more, and lists cost what has changed.
 */
import type { MemoryFileChange, MemoryFiles } from "@strata/core/store"
import type { Place } from "../foreign/write-alone.ts"
import type { FoldSessionSummary, ListedSession, SessionSummaryEntry } from "./shapes.ts"
import { liveLines } from "./transcripts.ts"

const FOLDER = ".summaries"

const pathOf = (session: string) => `${FOLDER}/session-${session}.json`

/** A session as it is now. */
export interface SummarisedSession extends ListedSession {
  readonly place: Place
  readonly bytes: number
}

interface KeptSummary {
  readonly data: Record<string, unknown>
  /** How many bytes of the journal are in it. */
  readonly through: number
}

interface Summarising {
  readonly files: MemoryFiles
  readonly sessions: readonly SummarisedSession[]
  readonly projectKey: string
  readonly fold: FoldSessionSummary
}

export async function summariesOf({ files, sessions, projectKey, fold }: Summarising): Promise<SessionSummaryEntry[]> {
  const kept = new Map((await files.readAll({ folders: [FOLDER] })).map(({ path, text }) => [path, summaryIn(text)]))
  const changes: MemoryFileChange[] = []
  const summaries = await Promise.all(
    sessions.map(async ({ sessionId, mtime, place, bytes }) => {
      const path = pathOf(place.address.id)
      const found = kept.get(path)
      const before = found && found.through <= bytes ? found : undefined // a longer one is of a session that was deleted
      if (before?.through === bytes) return { sessionId, mtime, data: before.data }
      const { lines, end } = await liveLines(place, before?.through ?? 0)
      const previous = before && { sessionId, mtime, data: before.data }
      const { data } = fold(previous, { projectKey, sessionId }, lines, { mtime })
      changes.push({ path, text: JSON.stringify({ data, through: end } satisfies KeptSummary) })
      return { sessionId, mtime, data }
    }),
  )
  if (changes.length > 0) await files.install(changes)
  return summaries
}

/** What was said in a deleted session is in no list. */
export async function forgetSummary(files: MemoryFiles, session: string): Promise<void> {
  const path = pathOf(session)
  if ((await files.read(path)) !== undefined) await files.install([{ path, text: undefined }], { forGood: true })
}

/** One that cannot be read is made again. */
function summaryIn(text: string | undefined): KeptSummary | undefined {
  try {
    const { data, through } = JSON.parse(text ?? "null") as Partial<KeptSummary>
    return typeof data === "object" && typeof through === "number" ? { data, through } : undefined
  } catch {
    return undefined
  }
}
