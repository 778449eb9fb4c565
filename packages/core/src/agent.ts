/** `@strata/core/agent`: the loop. Apart from the library's front door, because it loads more: tools, hooks, permissions. */
export { HOOK_EVENTS, type HookEvent, PERMISSION_MODES, type PermissionMode } from "./base/vocabulary.ts"
export { Agent, type AgentOptions, type AskOptions, openAgent, toolDefinition } from "./loop/agent.ts"
export { commandHooks, type Hook, type HookAnswer, type HookFunction, type HookInput } from "./loop/hooks.ts"
export { type InstructionFile, loadInstructions } from "./loop/instructions.ts"
export { type Judgement, judge, type PermissionPolicy } from "./loop/permissions.ts"
export { type QueryOptions, query } from "./loop/query.ts"
export type { QueryEnd, QueryEvent } from "./loop/query-events.ts"
export type { PermissionAnswer, PermissionRequest, ToolRun } from "./loop/run-tools.ts"
