/** The functions of the package's root. Their implementations are loaded on the first call, so importing the package costs little. */
import type { StoreLocation } from "@strata/core"
import type { OpenArchiveOptions } from "./import/archive/open-archive.ts"
import type { ArchivedSession, SessionArchive } from "./import/archive/session-archive.ts"
import type { FindTranscripts, FoundTranscript } from "./import/find-transcripts.ts"
import type { ImportOptions, ImportOutcome } from "./import/import-conversations.ts"
import type { ImportOrUpdateResult } from "./import/import-or-update.ts"
import type { ExternalSession, ListSessionsOptions } from "./import/sessions.ts"
import type { Exportable, ExportedTranscript, ExportOptions } from "./import/write/export.ts"
import type { Inspection } from "./inspect/inspection.ts"
import type { Transcript } from "./inspect/read-transcripts.ts"
import type { RecordedResponse } from "./inspect/responses.ts"
import type { RecordedView, TranscriptTimeline } from "./inspect/timeline.ts"
import type { InspectedResponses, InspectionTotal } from "./inspect/totals.ts"

/** Imports every conversation in another program's transcript. Refuses a file that was imported before. */
export async function importConversations(options: ImportOptions): Promise<readonly ImportOutcome[]> {
  const { importConversations: read } = await import("./import/import-conversations.ts")
  return read(options)
}

/**
 * Imports every conversation in another program's transcript, or updates those imported before. The file is only read.
 *
 * @example
 * const [imported] = await importOrUpdateConversations({ file, owner: localUser })
 * const agent = await openAgent({ model, id: imported.id, memory: { owner: localUser } })
 */
export async function importOrUpdateConversations(options: ImportOptions): Promise<readonly ImportOrUpdateResult[]> {
  const { importOrUpdateConversations: take } = await import("./import/import-or-update.ts")
  return take(options)
}

/** Sessions of other programs that can be continued: those of the project's directory first, each part newest first. */
export async function listExternalSessions(place: ListSessionsOptions): Promise<readonly ExternalSession[]> {
  const { listExternalSessions: list } = await import("./import/sessions.ts")
  return list(place)
}

/** The transcripts on this machine, newest first: of other agents, of the local user's own conversations, and in directories you name. */
export async function findTranscripts(options: FindTranscripts = {}): Promise<readonly FoundTranscript[]> {
  const { findTranscripts: find } = await import("./import/find-transcripts.ts")
  const found = await find(options)
  if (options.onlyDirs) return found
  const { listDeletedTranscripts } = await import("./import/archive/open-archive.ts")
  return [...found, ...(await listDeletedTranscripts(options))].sort((a, b) => b.modifiedMs - a.modifiedMs)
}

/** The sessions of other programs that `strata archive` copied, newest first. Pass their `path` to `readTranscripts`. */
export async function listArchivedTranscripts(options: OpenArchiveOptions = {}): Promise<readonly ArchivedSession[]> {
  const { listArchivedTranscripts: list } = await import("./import/archive/open-archive.ts")
  return list(options)
}

/**
 * Opens the archive of other programs' sessions, which copies, lists, restores and erases them. Nothing leaves the machine.
 *
 * @example
 * const archive = await openSessionArchive()
 * await archive.update()
 */
export async function openSessionArchive(options: OpenArchiveOptions = {}): Promise<SessionArchive> {
  const { openSessionArchive: open } = await import("./import/archive/open-archive.ts")
  return open(options)
}

/**
 * The conversations in a transcript of any program, or in a Strata journal. Most formats have one. Nothing is written. `where` is the store
 * that holds the journals which `findTranscripts` lists by URI.
 */
export async function readTranscripts(
  file: string,
  where: Pick<StoreLocation, "store" | "dir" | "env"> = {},
): Promise<readonly Transcript[]> {
  const { readTranscripts: read } = await import("./inspect/read-transcripts.ts")
  return read(file, where)
}

/**
 * Reports what a recorded conversation spent its context and money on.
 *
 * @example
 * for (const transcript of await readTranscripts(file)) console.log((await inspectTranscript(transcript)).money.dollars)
 */
export async function inspectTranscript(transcript: Transcript): Promise<Inspection> {
  const { inspectTranscript: inspect } = await import("./inspect/inspection.ts")
  return inspect(transcript)
}

/** The billed responses of a recorded conversation, each listed once. */
export async function listResponses(transcript: Transcript): Promise<readonly RecordedResponse[]> {
  const { listResponses: found } = await import("./inspect/responses.ts")
  return found(transcript)
}

/** Totals of several recorded conversations. A response that occurs in more than one file, as in forks, counts once. */
export async function sumInspections(all: readonly InspectedResponses[]): Promise<InspectionTotal> {
  const { sumInspections: total } = await import("./inspect/totals.ts")
  return total(all)
}

/**
 * Exports a conversation for another program, or as Markdown. Secrets are masked and home directories shortened unless you disable that.
 * `omitted` counts the content that the format cannot represent.
 *
 * @example
 * const [transcript] = await readTranscripts(file)
 * const { text, secrets } = await exportTranscript(transcript!, { to: "markdown" })
 */
export async function exportTranscript(transcript: Exportable, options: ExportOptions): Promise<ExportedTranscript> {
  const { exportTranscript: write } = await import("./import/write/export.ts")
  return write(transcript, options)
}

/**
 * The timeline of a recorded conversation, turn by turn. `onTurn` is called at each response, while the context of its request is in view.
 */
export async function transcriptTimeline(
  transcript: Transcript,
  options: { readonly onTurn?: (view: RecordedView) => void } = {},
): Promise<TranscriptTimeline> {
  const { transcriptTimeline: follow } = await import("./inspect/timeline.ts")
  return follow(transcript, options)
}
