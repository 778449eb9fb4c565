/** `@strata/transcripts/import`: finds and reads the files of other programs. For the other packages of this repository. */

export { listActiveBranch } from "./active-branch.ts"
export { companionFiles } from "./companion-files.ts"
export { homeIn, type TranscriptFile, type TranscriptProgram, transcriptFiles } from "./find-transcripts.ts"
export { importTranscript } from "./import-file.ts"
export type { ImportedConversation } from "./importer.ts"
export { getNumber, getObject, getString, getStrings, type JsonObject, jsonLines, parseObject } from "./json-access.ts"
export { openCode } from "./opencode.ts"
export { type OpenCodeSession, openCodeSessions } from "./opencode-sessions.ts"
export { pi } from "./pi.ts"
