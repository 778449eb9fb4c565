/** The adapter for Mastra: `new Agent({ inputProcessors: [strataProcessor()] })`. */

export { type ConversationStatus, closeStrata, strataStatus } from "./conversation-pool.ts"
export { type StrataProcessor, strataProcessor } from "./mastra/processor.ts"
export type { StrataOptions } from "./options.ts"
