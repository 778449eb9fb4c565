/** `@strata/core/transcripts`. Transcripts of other programs, and what happened in them. */
import "../base/node-version.ts"

export { companionFiles } from "../import/companion-files.ts"
export { type Fields, fieldsAt, jsonLines, numberAt, parseFields, textAt, textsAt } from "../import/foreign-json.ts"
export { importTranscript } from "../import/import-file.ts"
export type { ImportedConversation } from "../import/importer.ts"
export { mainPath } from "../import/main-path.ts"
export { openCode } from "../import/opencode.ts"
export { type OpenCodeSession, openCodeSessions } from "../import/opencode-sessions.ts"
export { pi } from "../import/pi.ts"
export { homeIn, type Program, type TranscriptFile, transcriptFiles } from "../import/places.ts"
export { namesIn, wordsOf } from "../inspect/block-words.ts"
export { journalTranscript, type NamedJournal } from "../inspect/journal-transcript.ts"
export { exactNamesIn, namesUsedIn, neededNames } from "../inspect/needed-names.ts"
export { CourseFold } from "../inspect/recorded-course.ts"
export {
  type ConversationResponses,
  countedElsewhere,
  type RecordedResponse,
  responsesIn,
} from "../inspect/responses.ts"
export { copyJournal } from "../inspect/stored-journal.ts"
