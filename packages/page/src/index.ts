/** `@strata/page`: what people look at. Reports as files that open offline, and pages that a local server shows. */

export { STATUS_WORDS } from "./labels/agents.ts"
export { attachmentName, attachmentWords } from "./labels/attachments.ts"
export { apiReasonWords, CAUSES, lossWords, paidWords } from "./labels/cache-breaks.ts"
export { auditLines, auditWords, type CompactionFigures, compactedSentence, routeWords } from "./labels/compaction.ts"
export { planRows, ROUTES_WITH_MODEL } from "./labels/compaction-plan.ts"
export { type Decided, type DecidedWhat, decisionsIn } from "./labels/decisions.ts"
export { dreamProgress } from "./labels/dreams.ts"
export { LAYER_WORDS } from "./labels/layers.ts"
export { authorWords, editedWords, INDEX, minuteOf, shortSource, sourceWords, stemOf } from "./labels/memories.ts"
export { keptNames, lostNames } from "./labels/needed-names.ts"
export { recordedCostWords, type Spent, spentWords } from "./labels/spent.ts"
export { clearingSentence, undoSentence } from "./labels/undo.ts"
export type {
  Compaction,
  Course,
  Loss,
  LossKind,
  PageContent,
  PageConversation,
  Point,
} from "./render/content.ts"
export { costIn, costWithUnit, shareOf, timeWords, wholePercent } from "./render/cost-words.ts"
export { BEGINNING } from "./render/document.ts"
export { lossesOf } from "./render/losses.ts"
export { html, Markup } from "./render/markup.ts"
export { type CourseOnPage, courseOnPage } from "./render/recorded-course.ts"
export { page } from "./render/report.ts"
export { SCORE_COLUMNS, type ScoreColumn } from "./render/score-columns.ts"
export { withShortNames } from "./render/short-names.ts"
export type { AgentSum } from "./usage/digest.ts"
export type { Followed } from "./usage/follow-files.ts"
export type { GoneSessions } from "./usage/gone-sessions.ts"
export { type Look, type LookOptions, openLook, type ReplayOrder } from "./usage/open-look.ts"
export type {
  ContextClass,
  ListOrder,
  ListRequest,
  LookAgents,
  LookCompactions,
  LookFilter,
  LookList,
  LookReport,
  LookRow,
  LookSavings,
  LookSpent,
  LostCaches,
  LostForReason,
  LostToCause,
  NamesNeeded,
  ReplayedNames,
  SpentOn,
  SpentOnDay,
  Unread,
} from "./usage/report-data.ts"
export type { SavingFigure } from "./usage/sample.ts"
export { intervalWords, moneyWords, namesCompared } from "./usage/sentences.ts"
export { isPictureReady, PICTURE_BEGINNING, sharePicture, shareText } from "./usage/share.ts"
export { serveLook } from "./usage/worker.ts"
