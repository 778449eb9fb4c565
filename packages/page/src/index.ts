/** `@strata/page`: what people look at. Reports as files that open offline, and pages that a local server shows. */
export {
  type Compaction,
  type Course,
  LOSS_KINDS,
  type Loss,
  type LossKind,
  type PageContent,
  type PageConversation,
  type Point,
} from "./draw/content.ts"
export { costIn, costWithUnit, shareOf, timeWords, wholePercent } from "./draw/cost-words.ts"
export { BEGINNING } from "./draw/document.ts"
export { lossesOf } from "./draw/losses.ts"
export { html, Markup } from "./draw/markup.ts"
export { type CourseOnPage, courseOnPage } from "./draw/recorded-course.ts"
export { page } from "./draw/report.ts"
export { SCORE_COLUMNS, type ScoreColumn } from "./draw/score-columns.ts"
export { withShortNames } from "./draw/short-names.ts"
export type { Followed } from "./look/follow-files.ts"
export type { GoneSessions } from "./look/gone-sessions.ts"
export { type Look, type LookOptions, openLook, type ReplayOrder } from "./look/open-look.ts"
export {
  type ContextClass,
  LIST_ORDERS,
  type ListOrder,
  type ListRequest,
  type LookAgents,
  type LookCompactions,
  type LookFilter,
  type LookList,
  type LookReport,
  type LookRow,
  type LookSavings,
  type LookSpent,
  type LostCaches,
  type LostForReason,
  type LostToCause,
  type NamesNeeded,
  type SpentOn,
  type SpentOnDay,
  type Unread,
} from "./look/report-data.ts"
export { PICTURE_BEGINNING, sharePicture, shareText } from "./look/share.ts"
export { serveLook } from "./look/worker.ts"
export { attachmentName, attachmentWords } from "./words/attachments.ts"
export { apiReasonWords, CAUSES, causeWords, lossWords, paidWords } from "./words/cache-breaks.ts"
export { lifetimeWords } from "./words/cache-lifetime.ts"
export { auditLines, auditWords, type CompactionFigures, compactedSentence, routeWords } from "./words/compaction.ts"
export { planRows, ROUTES_WITH_MODEL } from "./words/compaction-plan.ts"
export { type Decided, type DecidedWhat, decisionsIn, decisionWords } from "./words/decisions.ts"
export { dreamProgress } from "./words/dreams.ts"
export { LAYER_WORDS } from "./words/layers.ts"
export { authorWords, editedWords, INDEX, minuteOf, shortSource, sourceWords, stemOf } from "./words/memories.ts"
export { keptNames, lostNames } from "./words/needed-names.ts"
export { recordedCostWords, type Spent, spentWords } from "./words/spent.ts"
export { clearingSentence, undoSentence } from "./words/undo.ts"
