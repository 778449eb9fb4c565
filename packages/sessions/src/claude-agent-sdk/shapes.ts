/** The `SessionStore` of the Claude Agent SDK, by its shape. The names are the SDK's. */

/** Which transcript: a session's own, or with `subpath` that of one of its agents. */
export interface SessionKey {
  readonly projectKey: string
  readonly sessionId: string
  readonly subpath?: string
}

/** A line of a transcript. Only `uuid` is looked at: it says whether the line is there already. */
export interface SessionStoreEntry {
  type: string
  uuid?: string
  timestamp?: string
  [field: string]: unknown
}

/** What the SDK knows of a session without its lines. `data` is the SDK's own. */
export interface SessionSummaryEntry {
  sessionId: string
  mtime: number
  data: Record<string, unknown>
}

/** The function `foldSessionSummary` of the SDK. */
export type FoldSessionSummary = (
  previous: SessionSummaryEntry | undefined,
  key: { projectKey: string; sessionId: string; subpath?: string },
  entries: SessionStoreEntry[],
  options?: { mtime?: number },
) => SessionSummaryEntry

/** A session in a list: when it was last written to, in milliseconds. */
export interface ListedSession {
  sessionId: string
  mtime: number
}

export interface StrataSessionStore {
  append(key: SessionKey, entries: readonly SessionStoreEntry[]): Promise<void>
  load(key: SessionKey): Promise<SessionStoreEntry[] | null>
  listSessions(projectKey: string): Promise<ListedSession[]>
  /** Only with the option `foldSessionSummary`. */
  listSessionSummaries?(projectKey: string): Promise<SessionSummaryEntry[]>
  /** What is deleted is no longer loaded or listed. Its lines stay in the journal, as everything does. */
  delete(key: SessionKey): Promise<void>
  listSubkeys(key: { readonly projectKey: string; readonly sessionId: string }): Promise<string[]>
}
