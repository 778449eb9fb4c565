/** The door for Mastra: `new Agent({ inputProcessors: [strataProcessor()] })`. */
export { type StrataProcessor, strataProcessor } from "./mastra/processor.ts"
export type { StrataOptions } from "./options.ts"
export { type ConversationStatus, closeStrata, strataStatus } from "./shared.ts"
