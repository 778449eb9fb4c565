/** The public API of the simulator. */
export { TOKEN_HEADER } from "./admission.ts"
export {
  type CacheOutcome,
  type CacheRequest,
  LOOK_BACK,
  type PrefixItem,
  PromptCache,
  TTL_MS,
} from "./cache/prompt-cache.ts"
export { type Clock, createClock, frozenClock } from "./clock.ts"
export type { Fault, FaultKind, FaultRule, Faults } from "./faults.ts"
export type { ModelOverrides } from "./models.ts"
export type { LogEntry } from "./request-log.ts"
export type {
  Answer,
  AnswerBlock,
  Responder,
  ResponderBlock,
  ResponderMessage,
  ResponderRequest,
  ResponderTool,
  ResponderTurn,
} from "./responder.ts"
export * from "./responders/index.ts"
export { makeScratch, type Scratch } from "./scratch.ts"
export type { WebPage } from "./server-tools/pages.ts"
export { type Simulator, type SimulatorOptions, startSimulator } from "./start.ts"
export type { Statistics, Tally } from "./statistics.ts"
export type { BindingEnforcement } from "./thinking/binding.ts"
export { countText, createTokenCounter, type Measure, type TokenCounter } from "./tokens.ts"
export type { Ttl } from "./wire.ts"
