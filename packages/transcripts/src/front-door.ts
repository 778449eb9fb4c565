/** The functions of the package's root. What they need is loaded when they are called, so importing the package costs little. */
import type { StoreLocation } from "@strata/core"
import type { ImportOptions, ImportOutcome } from "./import/import-conversations.ts"
import type { ArchivedSession, SessionArchive } from "./import/kept/kept-store.ts"
import type { KeptOptions } from "./import/kept/open-kept.ts"
import type { FindTranscripts, FoundTranscript } from "./import/places.ts"
import type { ExternalSession, SessionsPlace } from "./import/sessions.ts"
import type { ImportOrUpdateResult } from "./import/take-up.ts"
import type { Exportable, ExportedTranscript, ExportOptions } from "./import/write/export.ts"
import type { Inspection } from "./inspect/inspection.ts"
import type { Transcript } from "./inspect/read-transcripts.ts"
import type { RecordedView, TranscriptTimeline } from "./inspect/recorded-course.ts"
import type { RecordedResponse } from "./inspect/responses.ts"
import type { InspectedResponses, InspectionTotal } from "./inspect/totals.ts"

/** Imports every conversation in another program's transcript. A file imported before is refused: its conversations are there already. */
export async function importConversations(options: ImportOptions): Promise<readonly ImportOutcome[]> {
  const { importConversations: read } = await import("./import/import-conversations.ts")
  return read(options)
}

/**
 * Takes up every conversation in another program's transcript: imports it, or finds what was imported before and brings it up to date. The
 * file is only read.
 *
 * @example
 * const [taken] = await takeUpConversations({ file, owner: localPerson })
 * const agent = await openAgent({ model, id: taken.id, memory: { owner: localPerson } })
 */
export async function importOrUpdateConversations(options: ImportOptions): Promise<readonly ImportOrUpdateResult[]> {
  const { importOrUpdateConversations: take } = await import("./import/take-up.ts")
  return take(options)
}

/** Sessions of other programs to continue: those of the project's directory first, each part newest first. */
export async function listExternalSessions(place: SessionsPlace): Promise<readonly ExternalSession[]> {
  const { listExternalSessions: list } = await import("./import/sessions.ts")
  return list(place)
}

/** The transcripts on this machine, newest first: of other agents, of the local person's own conversations, and in directories you name. */
export async function findTranscripts(options: FindTranscripts = {}): Promise<readonly FoundTranscript[]> {
  const { findTranscripts: find } = await import("./import/places.ts")
  const found = await find(options)
  if (options.onlyDirs) return found
  const { goneTranscripts } = await import("./import/kept/open-kept.ts")
  return [...found, ...(await goneTranscripts(options))].sort((a, b) => b.modifiedMs - a.modifiedMs)
}

/** The sessions of other programs that `strata archive` copied, newest first. Their `path` is what `readTranscripts` takes. */
export async function listArchivedTranscripts(options: KeptOptions = {}): Promise<readonly ArchivedSession[]> {
  const { listArchivedTranscripts: list } = await import("./import/kept/open-kept.ts")
  return list(options)
}

/**
 * Copies of other programs' sessions: keeps what is new, lists, restores and erases. Nothing leaves the machine.
 *
 * @example
 * const kept = await openKept()
 * await kept.keep()
 */
export async function openSessionArchive(options: KeptOptions = {}): Promise<SessionArchive> {
  const { openSessionArchive: open } = await import("./import/kept/open-kept.ts")
  return open(options)
}

/**
 * The conversations in a transcript of any program, or in a journal of ours: one, for most formats. Nothing is written. `where`: the store of
 * journals that `findTranscripts` names by their place in it.
 */
export async function readTranscripts(
  file: string,
  where: Pick<StoreLocation, "store" | "dir" | "env"> = {},
): Promise<readonly Transcript[]> {
  const { readTranscripts: read } = await import("./inspect/read-transcripts.ts")
  return read(file, where)
}

/**
 * Where the context and the money of a recorded conversation went.
 *
 * @example
 * for (const transcript of await readTranscripts(file)) console.log((await inspectTranscript(transcript)).money.dollars)
 */
export async function inspectTranscript(transcript: Transcript): Promise<Inspection> {
  const { inspectTranscript: inspect } = await import("./inspect/inspection.ts")
  return inspect(transcript)
}

/** The billed responses of a recorded conversation, each once. */
export async function listResponses(transcript: Transcript): Promise<readonly RecordedResponse[]> {
  const { listResponses: found } = await import("./inspect/responses.ts")
  return found(transcript)
}

/** Several recorded conversations together. A response that more than one file has, as a fork's does, counts once. */
export async function sumInspections(all: readonly InspectedResponses[]): Promise<InspectionTotal> {
  const { sumInspections: total } = await import("./inspect/totals.ts")
  return total(all)
}

/**
 * A conversation written for another program, or as a page to read. Secrets are masked and home directories shortened unless you say
 * otherwise. What the format cannot hold is counted in `leftOut`.
 *
 * @example
 * const [transcript] = await readTranscripts(file)
 * const { text, secrets } = await exportTranscript(transcript!, { to: "markdown" })
 */
export async function exportTranscript(transcript: Exportable, options: ExportOptions): Promise<ExportedTranscript> {
  const { exportTranscript: write } = await import("./import/write/export.ts")
  return write(transcript, options)
}

/** How a recorded conversation went, turn by turn. `onTurn` is called at each response, while what it saw is still in view. */
export async function transcriptTimeline(
  transcript: Transcript,
  options: { readonly onTurn?: (view: RecordedView) => void } = {},
): Promise<TranscriptTimeline> {
  const { transcriptTimeline: follow } = await import("./inspect/recorded-course.ts")
  return follow(transcript, options)
}
