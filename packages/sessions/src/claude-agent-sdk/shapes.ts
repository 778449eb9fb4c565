/** The shape of the `SessionStore` of the Claude Agent SDK, with the SDK's names. */

/** Identifies a transcript: a session's own or, with `subpath`, that of one of its agents. */
export interface SessionKey {
  readonly projectKey: string
  readonly sessionId: string
  readonly subpath?: string
}

/** A line of a transcript. Only `uuid` is read, to recognize lines that are stored already. */
export interface SessionStoreEntry {
  type: string
  uuid?: string
  timestamp?: string
  [field: string]: unknown
}

/** What the SDK lists of a session without reading its lines. `data` belongs to the SDK. */
export interface SessionSummaryEntry {
  sessionId: string
  mtime: number
  data: Record<string, unknown>
}

/** The SDK's function `foldSessionSummary`. */
export type FoldSessionSummary = (
  previous: SessionSummaryEntry | undefined,
  key: { projectKey: string; sessionId: string; subpath?: string },
  entries: SessionStoreEntry[],
  options?: { mtime?: number },
) => SessionSummaryEntry

/** A session in a list, with the time of its last write in milliseconds. */
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
  /** Deleted sessions are no longer loaded or listed. */
  delete(key: SessionKey): Promise<void>
  listSubkeys(key: { readonly projectKey: string; readonly sessionId: string }): Promise<string[]>
}
