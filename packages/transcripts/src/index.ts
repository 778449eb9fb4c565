/** `@strata/transcripts`: what other agents did, and what it cost. */
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
} from "./front-door.ts"
export type { ImportedAgentOutcome, ImportOptions, ImportOutcome } from "./import/import-conversations.ts"
export type { ImportedAgent, ImportReport } from "./import/importer.ts"
export type {
  ArchivedSession,
  KeepOptions,
  KeepProgress,
  KeepReport,
  KeptCheck,
  KeptList,
  KeptStoreOptions,
  RestoredSession,
  SessionArchive,
} from "./import/kept/kept-store.ts"
export type { KeptOptions } from "./import/kept/open-kept.ts"
export type {
  Environment,
  FindTranscripts,
  FoundTranscript,
  TranscriptFile,
  TranscriptProgram,
} from "./import/places.ts"
export type { ExternalSession, SessionsPlace } from "./import/sessions.ts"
export type { ImportOrUpdateResult } from "./import/take-up.ts"
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
export type { PaidSoFar, RecordedTurn, RecordedView, TranscriptTimeline } from "./inspect/recorded-course.ts"
export type { RecordedResponse } from "./inspect/responses.ts"
export type { FileTotal, ToolCall, ToolTotal } from "./inspect/tool-use.ts"
export type { InspectedResponses, InspectionTotal, SharedResponses } from "./inspect/totals.ts"
