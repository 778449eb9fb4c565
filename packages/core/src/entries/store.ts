/** `@strata/core/store`. The store of conversations: locations, contents and locks. */
import "../base/node-version.ts"

export type { AppendLog, LogAddress } from "../journal/append-log.ts"
export { type ContentCriteria, selectContents } from "../journal/content-selection.ts"
export type {
  ContentAddress,
  ContentFile,
  ContentFileBytes,
  Contents,
  ContentWrite,
  PruneCounts,
  PruneCriteria,
  StoredItem,
} from "../journal/contents.ts"
export {
  BLOB,
  CONSOLIDATED,
  ContentDiffersError,
  contentName,
  DAYS,
  MEMBERS,
  MESSAGES,
  type StoredNamespace,
} from "../journal/contents.ts"
export { pruneTotals, SPENT, totalsFile, writeTotals } from "../journal/daily-totals.ts"
export { describeJournalDamage, describeOpeningReport } from "../journal/describe-damage.ts"
export type {
  AgentEnding,
  AgentKind,
  AgentStart,
  AuditFigures,
  AuditShare,
  BoundaryEntry,
  ChosenLifetimes,
  CompactionFacts,
  Decision,
  DecisionDraft,
  DecisionEffect,
  DecisionOf,
  EntryDraft,
  ExternalChange,
  HiddenRange,
  MessageDraft,
  MessageEntry,
  OvertakenBy,
  SessionFacts,
  ShortenedResult,
  UndoneBy,
} from "../journal/entries.ts"
export { type Entry, isBoundaryEntry, isDecision } from "../journal/entries.ts"
export type { CommittedMemoryNamespace } from "../journal/file/committed-memory.ts"
export { committedMemory } from "../journal/file/committed-memory.ts"
export type { FileStoreOptions } from "../journal/file/file-store.ts"
export { breakLock, type FoundLock, findLocks } from "../journal/file/find-locks.ts"
export {
  DIRECTORY_MODE,
  FILE_MODE,
  journalDirectory,
  PROJECTS,
  projectDirectory,
  strataDirectory,
} from "../journal/file/layout.ts"
export { acquireLock } from "../journal/file/lock.ts"
export { makeDirectory } from "../journal/file/make-directory.ts"
export type { InFlightLog, SentRequest, UnsettledRequests } from "../journal/in-flight.ts"
export type { MemoryStoreOptions } from "../journal/in-memory/store.ts"
export { memoryStore } from "../journal/in-memory/store.ts"
export type { DamagedLine, DamageReport, DecodedLine } from "../journal/line.ts"
export {
  decodeLine,
  encodeLine,
  inspectLostLine,
  isCompleteLine,
  peekLine,
  withoutSum,
  withSum,
} from "../journal/line.ts"
export { listJournalsIn } from "../journal/list-journals.ts"
export { firstWordsIn, readListingFacts, sessionFacts } from "../journal/listing.ts"
export type {
  Mailbox,
  MailboxCursor,
  MailboxDraft,
  MailboxMessage,
  MailboxReadResult,
  Membership,
  SendLimits,
  TeamAddress,
  TeamMember,
  TeamMemberState,
} from "../journal/mailbox.ts"
export { validateMailboxDraft } from "../journal/mailbox-line.ts"
export type {
  MemoryFileChange,
  MemoryFileListing,
  MemoryFiles,
  MemoryFilesWatch,
  MemoryInstallOptions,
  MemoryInstallReport,
  MemoryNamespace,
  ReadMemoryFile,
  TextSelection,
} from "../journal/memory-files.ts"
export { checkMemoryText, isMemoryPath, validateMemoryPath, WRITE_ANNOUNCEMENTS } from "../journal/memory-files.ts"
export type { MoveOptions, MoveOutcome, MoveProgress, MoveReport } from "../journal/move-contents.ts"
export { moveContents } from "../journal/move-contents.ts"
export { ParentRelinker } from "../journal/parent-relinker.ts"
export type {
  NewPassage,
  PassageCursor,
  PassageDelta,
  PassageReader,
  PassageStore,
  PassageStoreAddress,
  PassageUpdate,
  StoredPassage,
  TextQuery,
  TokenCount,
} from "../journal/passage-store.ts"
export { FACTS } from "../journal/passage-store.ts"
export {
  CONSOLIDATE,
  type Permit,
  type PermitAddress,
  type PermitAttempt,
  type PermitRequest,
  type PermitState,
  type TakenPermit,
} from "../journal/permit.ts"
export {
  earlierNames,
  journalDirectoryIn,
  listProjectNamespaces,
  type ProjectInStore,
  projectMemories,
  projectNamespace,
} from "../journal/project-namespaces.ts"
export { isJournal, readJournalBytes } from "../journal/read-bytes.ts"
export type {
  AppendedLines,
  AppendOptions,
  BlobReceipt,
  ConversationListing,
  DailyBudget,
  FeedLine,
  FeedPoll,
  FlushMode,
  Journal,
  JournalAddress,
  JournalFeed,
  JournalRange,
  JournalSegment,
  JournalSize,
  ListJournalsOptions,
  OpeningReport,
  OpenJournalOptions,
  ResumeData,
  Store,
} from "../journal/store.ts"
export { dailyBudgetIn } from "../journal/store.ts"
export type { OpenStore, OpenStoreOptions } from "../journal/store-from.ts"
export { registerStore, storeFrom } from "../journal/store-from.ts"
export { parseStoreUri, storeUri } from "../journal/store-uri.ts"
export {
  decodeTeam,
  encodeTeam,
  type PositionedMessage,
  parsePosition,
  type StoredMember,
} from "../journal/team-content.ts"
export { waitForLock } from "../journal/wait-for-lock.ts"
export { isCommandRunning } from "../memory/changes/manual-edits.ts"
export { claimScratch } from "../memory/scratch.ts"
