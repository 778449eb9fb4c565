/** `@strata/transcripts`: finds, inspects, imports, archives and exports the sessions of other agents. */

export type { OpenArchiveOptions } from "./import/archive/open-archive.ts"
export type {
  ArchiveCheck,
  ArchivedSession,
  ArchiveList,
  ArchiveProgress,
  ArchiveReport,
  RestoredSession,
  SessionArchive,
  SessionArchiveOptions,
  UpdateArchiveOptions,
} from "./import/archive/session-archive.ts"
export type {
  Environment,
  FindTranscripts,
  FoundTranscript,
  TranscriptFile,
  TranscriptProgram,
} from "./import/find-transcripts.ts"
export type { ImportedAgentOutcome, ImportOptions, ImportOutcome } from "./import/import-conversations.ts"
export type { ImportOrUpdateResult } from "./import/import-or-update.ts"
export type { ImportedAgent, ImportReport } from "./import/importer.ts"
export type { ExternalSession, ListSessionsOptions } from "./import/sessions.ts"
export type { Exportable, ExportedTranscript, ExportOptions } from "./import/write/export.ts"
export { EXPORT_FORMATS, type ExportFormat } from "./import/write/formats.ts"
export type {
  ContextGrowth,
  Inspection,
  OutputStubs,
  RecordedAgents,
  RecordedBoundary,
  RecordedCache,
  RecordedCost,
} from "./inspect/inspection.ts"
export type { BoundaryNames, NeededNames } from "./inspect/needed-names.ts"
export type { Transcript } from "./inspect/read-transcripts.ts"
export type { RecordedResponse } from "./inspect/responses.ts"
export type { CostSoFar, RecordedTurn, RecordedView, TranscriptTimeline } from "./inspect/timeline.ts"
export type { FileTotal, ToolCall, ToolTotal } from "./inspect/tool-use.ts"
export type { InspectedResponses, InspectionTotal, SharedResponses } from "./inspect/totals.ts"
export {
  exportTranscript,
  findTranscripts,
  importConversations,
  importOrUpdateConversations,
  inspectTranscript,
  listArchivedTranscripts,
  listExternalSessions,
  listResponses,
  openSessionArchive,
  readTranscripts,
  sumInspections,
  transcriptTimeline,
} from "./public-functions.ts"
