/** `@strata/core/offline`. Summaries and answers without a model, for the simulator and the replay. */
import "../base/node-version.ts"

export { isCorrection, type Rule, readRules } from "../model/offline/corrections.ts"
export { firstLineOf, hashText, headOf, type Section, sentencesOf, splitDocument } from "../model/offline/document.ts"
export { type FileText, readFileText } from "../model/offline/file-text.ts"
export { offlineModel } from "../model/offline/offline-model.ts"
export type { ReadMessage } from "../model/offline/read-message.ts"
export { summarize } from "../model/offline/summary.ts"
export {
  listCalls,
  type OfflineRequest,
  readTimeline,
  recognizeRequest,
  type TimelineEntry,
  type ToolCall,
  textsOfKind,
} from "../model/offline/timeline.ts"
export {
  completeInput,
  findProblems,
  isRecord,
  propertiesOf,
  type Schema,
  sampleValue,
  schemaOf,
} from "../model/offline/tool-schema.ts"
export {
  type OfflineTodo,
  openToolbox,
  type PlannedCall,
  readStatus,
  type TodoStatus,
  type Toolbox,
  toolCommand,
  toolField,
  toolPath,
  toolRole,
  toolTodos,
} from "../model/offline/toolbox.ts"
