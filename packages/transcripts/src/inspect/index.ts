/** `@strata/transcripts/inspect`. What happened in a recorded conversation. For the packages beside this one. */
export { namesIn, wordsOf } from "./block-words.ts"
export { journalTranscript, type NamedJournal } from "./journal-transcript.ts"
export { exactNamesIn, namesUsedIn, neededNames } from "./needed-names.ts"
export { CourseFold } from "./recorded-course.ts"
export {
  type ConversationResponses,
  countedElsewhere,
  listResponses,
  type RecordedResponse,
} from "./responses.ts"
export { copyJournal } from "./stored-journal.ts"
