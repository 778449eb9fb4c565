/** `@strata/transcripts/inspect`: analyzes recorded conversations. For the other packages of this repository. */
export { blockText, measuredNamesIn } from "./block-text.ts"
export { recordedCost } from "./inspection.ts"
export { journalTranscript, type NamedJournal } from "./journal-transcript.ts"
export { exactNamesIn, namesUsedBy, neededNames } from "./needed-names.ts"
export {
  type ConversationResponses,
  countedElsewhere,
  listResponses,
  type RecordedResponse,
} from "./responses.ts"
export { copyJournal } from "./stored-journal.ts"
export { TimelineReducer } from "./timeline.ts"
