/** `@strata/core/base`. Foundations that every package shares: errors, ids, clocks, projects, secrets, formatting. */
import "../base/node-version.ts"

export { apportion } from "../base/apportion.ts"
export {
  type Clock,
  callAfter,
  isSafeId,
  projectName,
  randomIds,
  seededIds,
  systemClock,
  utcDay,
  uuidFrom,
  validateId,
} from "../base/clock.ts"
export type { CacheLifetimeSetting, HookEvent, RequestSource } from "../base/enums.ts"
export { isPermissionRule, type MemoryMode, PERMISSION_RULE, RULE_LISTS, type RuleList } from "../base/enums.ts"
export type { NamedHolder } from "../base/errors.ts"
export {
  busyError,
  ConversationLockedError,
  ConversationNotFoundError,
  describeReason,
  errorKind,
  errorMessage,
  errorReason,
  ImportError,
  isAboutDirectory,
  LockLostError,
  MemoryFileError,
  RangeRefusedError,
  recoveryAdvice,
  SettingsError,
  StrataError,
} from "../base/errors.ts"
export { readMarkdown, readPlainEnd, readPlainFile, readPlainStart, realPath } from "../base/files.ts"
export { type GitCall, parseRemoteAddress, remoteUrls, repositoryOf, repositoryRoot, runGit } from "../base/git.ts"
export { usableMemory } from "../base/memory.ts"
export { anOption, aPort, checkOptions, type OptionRules, required } from "../base/options.ts"
export { isLocalNamespace, isNamespaceOf, localUser, namespaceFor, OWNER_OPTION, type Owner } from "../base/owner.ts"
export { externalProjectName, mainDirectory, type Project, projectAt, sharesRemote } from "../base/project.ts"
export { dropSecrets, findSecrets, maskSecrets } from "../base/secrets/find-secrets.ts"
export { isSimulatedId, SIMULATED_MARK } from "../base/simulated.ts"
export type { CompactionFailureReason } from "../base/telemetry.ts"
export {
  addCounts,
  divideCounts,
  escapeForTerminal,
  escapeInvisible,
  escapeToLine,
  fillPrompt,
  formatClockTime,
  formatCompact,
  formatDollars,
  formatDollarsOrUnknown,
  formatDuration,
  formatNumber,
  formatPause,
  formatPercent,
  formatTimeAgo,
  inputTokens,
  jsonForTerminal,
  NO_TOKENS,
  pluralize,
  promptText,
  roundCounts,
  terminalEscaper,
  uuidKey,
  weighCounts,
} from "../base/text.ts"
export type { CooperativeTask } from "../base/work.ts"
export { Events, KeyedQueues, runCooperatively, SerialQueue } from "../base/work.ts"
export { MailboxFullError, MailboxMessageError, MemberNameTakenError } from "../journal/mailbox.ts"
