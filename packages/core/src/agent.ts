/** `@strata/core/agent`: the loop and its models. Apart from the library's front door, because it loads more. */

export { Agent, type AgentOptions, type AskOptions, openAgent } from "./agent/agent.ts"
export { commandHooks, type Hook, type HookAnswer, type HookFunction, type HookInput } from "./agent/hooks.ts"
export { type InstructionFile, loadInstructions } from "./agent/instructions.ts"
export { type Judgement, judge, type PermissionPolicy, simpleCommands } from "./agent/permissions.ts"
export { type QueryOptions, query } from "./agent/query.ts"
export type { QueryEnd, QueryEvent } from "./agent/query-events.ts"
export type { PermissionAnswer, PermissionRequest, ToolRun } from "./agent/run-tools.ts"
export { withSideEvents } from "./agent/side-events.ts"
export { HOOK_EVENTS, type HookEvent, PERMISSION_MODES, type PermissionMode } from "./base/vocabulary.ts"
export { defaultLayers, type LayerSurroundings, type OwnLoop, ownLoopLayers } from "./conversation/default-layers.ts"
export { type ForkOptions, type ForkOutcome, type ForkParent, runFork } from "./forks/fork.ts"
export { ForkedForkError } from "./forks/fork-marker.ts"
export { toolResultStorage } from "./layers/1-tool-results/tool-result-storage.ts"
export { microcompaction } from "./layers/2-microcompact/microcompaction.ts"
export { type SessionMemory, sessionMemory } from "./layers/3-session-memory/session-memory.ts"
export { ROUTE_WORDS } from "./layers/4-compaction/attempt.ts"
export { compaction } from "./layers/4-compaction/compaction.ts"
export type { CompactionHooks, CompactionOptions } from "./layers/4-compaction/options.ts"
export type { Route, RouteInput, RouteOutcome } from "./layers/4-compaction/routes/route.ts"
export type {
  CompactionOrder,
  CompactionPlan,
  CompactionProgress,
  Refusal,
  RouteName,
} from "./layers/compaction-order.ts"
export { type AiSdkModelOptions, aiSdkModel } from "./model/ai-sdk/ai-sdk.ts"
export {
  type AnthropicClient,
  type AnthropicModel,
  type AnthropicModelOptions,
  anthropicModel,
} from "./model/anthropic/anthropic.ts"
export { type BreakpointOptions, placeBreakpoints } from "./model/cache/breakpoints.ts"
export {
  AuthenticationError,
  ConnectionLostError,
  InvalidModelRequestError,
  ModelAbortedError,
  ModelError,
  OverloadedError,
  PassingModelError,
  PromptTooLongError,
  RateLimitedError,
  SpendLimitError,
} from "./model/errors.ts"
export type { RetryOptions } from "./model/retry.ts"
export { recogniseTooLong, type TooLong } from "./model/too-long-patterns.ts"
export { type UnusableInput, unusableInputOf } from "./model/tool-input-text.ts"
export { toolDefinition } from "./tools/definition/definition.ts"
