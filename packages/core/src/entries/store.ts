/** `@strata/core/store`. The store of conversations: where things are, what is in them, who holds them. */
import "../base/node-version.ts"

export { Bridge } from "../journal/bridge.ts"
export { type Choice, chosenIn } from "../journal/chosen-contents.ts"
export type {
  ContentAddress,
  ContentChange,
  ContentFile,
  ContentFileBytes,
  Contents,
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
export { damageSentences, describeOpeningReport } from "../journal/damage-sentences.ts"
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
export type { CommittedMemoryPlace } from "../journal/file/committed-memory.ts"
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
export type { InFlightLog, KeptRequests, SentRequest } from "../journal/in-flight.ts"
export type { MemoryStoreOptions } from "../journal/in-memory/store.ts"
export { memoryStore } from "../journal/in-memory/store.ts"
export type { DamagedLine, DamageFound, DecodedLine } from "../journal/line.ts"
export { decodeLine, encodeLine, isWhole, lostLine, peekLine, withoutSum, withSum } from "../journal/line.ts"
export type { LineLog, LogAddress } from "../journal/line-log.ts"
export { firstWordsIn, listingFacts, sessionFacts } from "../journal/listing.ts"
export type {
  FoundMember,
  Mailbox,
  MailboxCursor,
  MailboxDraft,
  MailboxMessage,
  MailboxReading,
  Membership,
  SendLimits,
  TeamAddress,
  TeamMember,
} from "../journal/mailbox.ts"
export { validateMailboxDraft } from "../journal/mailbox-line.ts"
export type {
  MemoryFileChange,
  MemoryFileListing,
  MemoryFiles,
  MemoryFilesWatch,
  MemoryInstallOptions,
  MemoryInstallReport,
  MemoryPlace,
  ReadMemoryFile,
  TextSelection,
} from "../journal/memory-files.ts"
export { checkedMemoryPath, checkMemoryText, isMemoryPath, WRITING } from "../journal/memory-files.ts"
export type { MoveOptions, MoveOutcome, MoveProgress, MoveReport } from "../journal/move-contents.ts"
export { moveContents } from "../journal/move-contents.ts"
export { listPlaces } from "../journal/openable.ts"
export type {
  PassageCursor,
  PassageDelta,
  PassageReader,
  PassageStore,
  PassageUpdate,
  ShelfAddress,
  ShelfPassage,
  ShelfRow,
  TextQuery,
  TokenCount,
} from "../journal/passage-shelf.ts"
export { FACTS } from "../journal/passage-shelf.ts"
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
  journalDirectoryOf,
  memoriesOf,
  type ProjectInStore,
  placeOf,
  placesOf,
} from "../journal/project-places.ts"
export { isJournal, readJournalBytes } from "../journal/read-bytes.ts"
export type {
  AppendedLines,
  AppendOptions,
  BlobReceipt,
  Budget,
  ConversationListing,
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
  Resumed,
  Store,
} from "../journal/store.ts"
export { budgetIn } from "../journal/store.ts"
export type { OpenStore, OpenStoreOptions } from "../journal/store-from.ts"
export { registerStore, storeFrom } from "../journal/store-from.ts"
export { storedAddress, storedName } from "../journal/stored-name.ts"
export { pruneSums, SPENT, sumsFile, writeSums } from "../journal/sums-content.ts"
export { type KeptMember, numberOfPlace, type PlacedMessage, teamFrom, teamTexts } from "../journal/team-content.ts"
export { waitForLock } from "../journal/wait-for-lock.ts"
export { isCommandRunning } from "../memory/changes/hand-edits.ts"
export { claimScratch } from "../memory/scratch.ts"
