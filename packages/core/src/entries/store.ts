/** `@strata/core/store`. The store of conversations: where things are, what is in them, who holds them. */
import "../base/node-version.ts"

export { Bridge } from "../journal/bridge.ts"
export { type Choice, chosenIn } from "../journal/chosen-contents.ts"
export { BLOB, CONSOLIDATED, DAYS, type KeptPlace, MEMBERS, MESSAGES } from "../journal/contents.ts"
export { lostLine } from "../journal/damage.ts"
export { damageSentences } from "../journal/damage-sentences.ts"
export { type Entry, isDecision } from "../journal/entries.ts"
export { breakLock, type FoundLock, findLocks } from "../journal/file/find-locks.ts"
export {
  DIRECTORY_MODE,
  defaultRoot,
  FILE_MODE,
  journalDirectory,
  PROJECTS,
  projectDirectory,
} from "../journal/file/layout.ts"
export { acquireLock } from "../journal/file/lock.ts"
export { makeDirectory } from "../journal/file/make-directory.ts"
export { memoryStore } from "../journal/in-memory/store.ts"
export { isWhole, peekLine, withoutSum, withSum } from "../journal/line.ts"
export { firstWordsIn, sessionFacts } from "../journal/listing.ts"
export { isMemoryPath, WRITING } from "../journal/memory-files.ts"
export { listPlaces } from "../journal/openable.ts"
export { FACTS } from "../journal/passage-shelf.ts"
export {
  earlierNames,
  journalDirectoryOf,
  memoriesOf,
  type ProjectInStore,
  placeOf,
  placesOf,
} from "../journal/project-places.ts"
export { isJournal, readJournalBytes } from "../journal/read-bytes.ts"
export type { Journal, JournalAddress, Store, Stretch } from "../journal/store.ts"
export { storeFrom } from "../journal/store-from.ts"
export { storedAddress, storedName } from "../journal/stored-name.ts"
export { sumsIn, sumsText } from "../journal/sums-content.ts"
export { type KeptMember, numberOfPlace, type PlacedMessage, teamFrom, teamTexts } from "../journal/team-content.ts"
export { waitForLock } from "../journal/wait-for-lock.ts"
export { isCommandRunning } from "../memory/changes/hand-edits.ts"
export { claimScratch } from "../memory/scratch.ts"
