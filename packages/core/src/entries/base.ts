/** `@strata/core/base`. Ground that every package shares: errors, ids, clocks, projects, secrets, how figures read. */
import "../base/node-version.ts"

export { type Clock, callAfter, dayOf, systemClock } from "../base/clock.ts"
export type { NamedHolder } from "../base/errors.ts"
export {
  busyError,
  ConversationLockedError,
  ConversationNotFoundError,
  ImportError,
  isAboutPlace,
  kindOfError,
  LockLostError,
  MailboxFullError,
  MailboxMessageError,
  MemberNameTakenError,
  MemoryFileError,
  messageOf,
  plainReason,
  RangeRefusedError,
  reasonOf,
  SettingsError,
  StrataError,
  whatToDo,
} from "../base/errors.ts"
export { escaped } from "../base/escaped-text.ts"
export { Events } from "../base/events.ts"
export { addressIn, remoteUrls } from "../base/git-remote.ts"
export { repositoryOf } from "../base/git-repository.ts"
export { grouped } from "../base/grouped.ts"
export { checkedId, isSafeId, projectName, randomIds, seededIds, uuidFrom } from "../base/ids.ts"
export type { Steps } from "../base/in-slices.ts"
export { inSlices } from "../base/in-slices.ts"
export { keyOf } from "../base/line-key.ts"
export { readMarkdown } from "../base/markdown-file.ts"
export { usableMemory } from "../base/memory.ts"
export {
  clockTime,
  counted,
  dollars,
  dollarsOrUnknown,
  duration,
  pause,
  percent,
  short,
  timeAgo,
} from "../base/numbers.ts"
export { anOption, aPort, checkOptions, type OptionRules, required } from "../base/options.ts"
export { isLocal, isPlaceOf, localPerson, OWNER_OPTION, type Owner, placeFor } from "../base/owner.ts"
export { realPath } from "../base/path-facts.ts"
export { readPlainEnd, readPlainFile, readPlainStart } from "../base/plain-file.ts"
export { foreignProjectName, hasRemoteOf, mainDirectory, type Project, projectAt } from "../base/project.ts"
export { fillPrompt, promptText } from "../base/prompt-file.ts"
export { Queue, Queues } from "../base/queue.ts"
export { repositoryRoot } from "../base/repository.ts"
export { type GitCall, runGit } from "../base/run-git.ts"
export { dropSecrets, findSecrets, maskSecrets } from "../base/secrets/find-secrets.ts"
export { isSimulatedId, SIMULATED_MARK } from "../base/simulated.ts"
export type { FailureReason as CompactionFailureReason } from "../base/telemetry.ts"
export { addCounts, divideCounts, inputTokens, NO_TOKENS, roundCounts, weighCounts } from "../base/token-counts.ts"
export { printable, visible, visibleJson, visibleStream } from "../base/visible.ts"
export type { CacheLifetimeSetting, HookEvent, RequestSource } from "../base/vocabulary.ts"
export { isPermissionRule, type MemoryMode, PERMISSION_RULE, RULE_LISTS, type RuleList } from "../base/vocabulary.ts"
