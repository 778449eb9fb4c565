/** `@strata/core/base`. Ground that every package shares: errors, ids, clocks, projects, secrets, how figures read. */
import "../base/node-version.ts"

export {
  type Clock,
  callAfter,
  checkedId,
  dayOf,
  isSafeId,
  projectName,
  randomIds,
  seededIds,
  systemClock,
  uuidFrom,
} from "../base/clock.ts"
export type { NamedHolder } from "../base/errors.ts"
export {
  busyError,
  ConversationLockedError,
  ConversationNotFoundError,
  ImportError,
  isAboutPlace,
  kindOfError,
  LockLostError,
  MemoryFileError,
  messageOf,
  plainReason,
  RangeRefusedError,
  reasonOf,
  SettingsError,
  StrataError,
  whatToDo,
} from "../base/errors.ts"
export { readMarkdown, readPlainEnd, readPlainFile, readPlainStart, realPath } from "../base/files.ts"
export { addressIn, type GitCall, remoteUrls, repositoryOf, repositoryRoot, runGit } from "../base/git.ts"
export { usableMemory } from "../base/memory.ts"
export { anOption, aPort, checkOptions, type OptionRules, required } from "../base/options.ts"
export { isLocal, isPlaceOf, localUser, OWNER_OPTION, type Owner, placeFor } from "../base/owner.ts"
export { externalProjectName, hasRemoteOf, mainDirectory, type Project, projectAt } from "../base/project.ts"
export { dropSecrets, findSecrets, maskSecrets } from "../base/secrets/find-secrets.ts"
export { isSimulatedId, SIMULATED_MARK } from "../base/simulated.ts"
export type { CompactionFailureReason } from "../base/telemetry.ts"
export {
  addCounts,
  clockTime,
  counted,
  divideCounts,
  dollars,
  dollarsOrUnknown,
  duration,
  escaped,
  fillPrompt,
  grouped,
  inputTokens,
  keyOf,
  NO_TOKENS,
  pause,
  percent,
  printable,
  promptText,
  roundCounts,
  short,
  timeAgo,
  visible,
  visibleJson,
  visibleStream,
  weighCounts,
} from "../base/text.ts"
export type { CacheLifetimeSetting, HookEvent, RequestSource } from "../base/vocabulary.ts"
export { isPermissionRule, type MemoryMode, PERMISSION_RULE, RULE_LISTS, type RuleList } from "../base/vocabulary.ts"
export type { Steps } from "../base/work.ts"
export { Events, inSlices, Queue, Queues } from "../base/work.ts"
export { MailboxFullError, MailboxMessageError, MemberNameTakenError } from "../journal/mailbox.ts"
