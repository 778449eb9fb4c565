/** `@strata/page`: what people look at. Reports as files that open offline, and pages that a local server shows. */
export type {
  Compaction,
  Course,
  Loss,
  LossKind,
  PageContent,
  PageConversation,
  Point,
} from "./draw/content.ts"
export { costIn, costWithUnit, shareOf, timeWords, wholePercent } from "./draw/cost-words.ts"
export { BEGINNING } from "./draw/document.ts"
export { lossesOf } from "./draw/losses.ts"
export { html, Markup } from "./draw/markup.ts"
export { type CourseOnPage, courseOnPage } from "./draw/recorded-course.ts"
export { page } from "./draw/report.ts"
export { SCORE_COLUMNS, type ScoreColumn } from "./draw/score-columns.ts"
export { withShortNames } from "./draw/short-names.ts"
export type { AgentSum } from "./look/digest.ts"
export type { Followed } from "./look/follow-files.ts"
export type { GoneSessions } from "./look/gone-sessions.ts"
export { type Look, type LookOptions, openLook, type ReplayOrder } from "./look/open-look.ts"
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
} from "./look/report-data.ts"
export type { SavingFigure } from "./look/sample.ts"
export { intervalWords, moneyWords, namesCompared } from "./look/sentences.ts"
export { isPictureReady, PICTURE_BEGINNING, sharePicture, shareText } from "./look/share.ts"
export { serveLook } from "./look/worker.ts"
export { STATUS_WORDS } from "./words/agents.ts"
export { attachmentName, attachmentWords } from "./words/attachments.ts"
export { apiReasonWords, CAUSES, lossWords, paidWords } from "./words/cache-breaks.ts"
export { auditLines, auditWords, type CompactionFigures, compactedSentence, routeWords } from "./words/compaction.ts"
export { planRows, ROUTES_WITH_MODEL } from "./words/compaction-plan.ts"
export { type Decided, type DecidedWhat, decisionsIn } from "./words/decisions.ts"
export { dreamProgress } from "./words/dreams.ts"
export { LAYER_WORDS } from "./words/layers.ts"
export { authorWords, editedWords, INDEX, minuteOf, shortSource, sourceWords, stemOf } from "./words/memories.ts"
export { keptNames, lostNames } from "./words/needed-names.ts"
export { recordedCostWords, type Spent, spentWords } from "./words/spent.ts"
export { clearingSentence, undoSentence } from "./words/undo.ts"
