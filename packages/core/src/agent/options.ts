/** Options of `openAgent`, and their validation. */
import type { Clock, Ids } from "../base/clock.ts"
import { HOOK_EVENTS, isPermissionRule, PERMISSION_MODES, PERMISSION_RULE, type PermissionMode } from "../base/enums.ts"
import {
  anOption,
  aPort,
  checkOptions,
  describe,
  InvalidOptionError,
  type OptionRules,
  oneOf,
  required,
} from "../base/options.ts"
import { MEMORY_OPTION, type MemoryOption } from "../base/owner.ts"
import type { LayerDependencies } from "../conversation/default-layers.ts"
import { FLAGS_OPTION, LAYERS_OPTION, SYSTEM_OPTION } from "../conversation/options.ts"
import type { Store } from "../journal/store.ts"
import type { Layer } from "../layers/layer.ts"
import type { SystemPrompt } from "../messages/request.ts"
import type { AnthropicClient } from "../model/anthropic/anthropic.ts"
import { CLIENT_OPTION, MODEL_OPTION, type ModelChoice } from "../model/choose-model.ts"
import type { EmbedFunction } from "../recall/vectors/embedded-passages.ts"
import type { FlagClient } from "../settings/flags.ts"
import type { EffectiveSettings, SettingsInput } from "../settings/settings.ts"
import type { TrustItem } from "../settings/trust-items.ts"
import type { Rerank } from "../tools/session/rerank.ts"
import type { ReadState, Tool, Toolset, UserQuestion } from "../tools/tool.ts"
import type { Hook } from "./hooks/hooks.ts"
import type { PermissionAnswer, PermissionRequest } from "./permissions/authorize-call.ts"
import { checkTools } from "./tools/toolsets.ts"

export interface AskOptions {
  readonly signal?: AbortSignal
  /** Maximum number of requests to the model in this query. */
  readonly maxTurns?: number
  /** Cost limit for the complete conversation, in dollars. */
  readonly costLimit?: number
  /**
   * Attaches files that the prompt mentions as `@path`, if they can be read without permission. A string: only its mentions count, if only
   * that part of the prompt is the user's. Default: false.
   */
  readonly mentions?: boolean | string
  /**
   * The part of the prompt that the user typed, if a program added the rest. Only this part can become a rule. Default: the complete
   * prompt.
   */
  readonly written?: string
}

/** The user's answer to a plan. */
export interface PlanAnswer {
  readonly approved: boolean
  readonly remark?: string
}

export interface SingleAgentOptions {
  /** A model id such as `"claude-opus-5-5"`, a `Model`, or a model of the Vercel AI SDK. */
  readonly model: ModelChoice
  /** Client for a model that is given by its id. Default: a client with the key in `ANTHROPIC_API_KEY`. */
  readonly client?: AnthropicClient
  /** `codingTools()`, or a list of tools and toolsets. The agent opens toolsets and closes them. Default: none. */
  readonly tools?: Toolset | readonly (Tool | Toolset)[]
  /** The project's directory. Paths are relative to it, and reading in it needs no permission. Default: the current working directory. */
  readonly cwd?: string
  /** Name of the project. Default: `STRATA_PROJECT`, the setting, else the git remote, the first commit, or the path. */
  readonly project?: string
  /** System prompt. Default: a prompt for work on a project. */
  readonly system?: SystemPrompt
  /** Id of the conversation to continue, or of a new one. Default: a new id. */
  readonly id?: string
  /** Whether to fail if no conversation with this id exists. Default: false. */
  readonly mustExist?: boolean
  /** Milliseconds to wait while another process has the conversation open. Default: 0, which throws `ConversationLockedError` at once. */
  readonly lockTimeoutMs?: number
  /** Strata's root directory, which contains the journals. Default: `STRATA_HOME`, else `.strata` in the home directory. */
  readonly dir?: string
  readonly title?: string
  /**
   * Owner of the conversation, such as `{ owner: userId }`. Conversations of one owner share memories, search and messages, and share none
   * with other owners. Default: nothing is shared, and only this conversation is searched.
   */
  readonly memory?: MemoryOption
  /**
   * Permission mode. Default: the mode of the resumed conversation, except `bypass`. For a new conversation: the mode in the settings, else
   * `ask` if you pass `askPermission`, else `accept-edits`.
   */
  readonly mode?: PermissionMode
  /** Asks the user whether a call may run. Without it, calls that need approval are refused. */
  readonly askPermission?: (request: PermissionRequest) => PermissionAnswer | Promise<PermissionAnswer>
  /** Asks the user a question of the model. */
  readonly promptUser?: (question: UserQuestion) => string | undefined | Promise<string | undefined>
  /** Shows a plan to the user and asks for approval. Without it, no plan is approved. */
  readonly approvePlan?: (plan: string) => PlanAnswer | Promise<PlanAnswer>
  readonly hooks?: readonly Hook[]
  /** File contents that the model has seen. Default: empty. */
  readonly reads?: ReadState
  readonly settings?: SettingsInput
  /** All settings, as returned by `readSettings`. No settings file is read, and `settings` and `trustProject` are ignored. */
  readonly effectiveSettings?: EffectiveSettings
  /**
   * Whether to apply those project settings that run programs or widen permissions. Default: if the user trusted exactly these contents
   * before. `true` trusts them for this agent, `false` ignores them. A function asks the user; approval is stored, and the function is
   * called again only after a change.
   */
  readonly trustProject?: boolean | ((parts: readonly TrustItem[]) => boolean | Promise<boolean>)
  /** Source that SessionStart hooks get for a new conversation. Default: `startup`. A resumed conversation has `resume`. */
  readonly startedBy?: "startup" | "clear"
  /** Cost limit in dollars for the conversation with its sub-agents. A query may set another limit. */
  readonly costLimit?: number
  /** Model that writes summaries. Default: the conversation's model. */
  readonly summariser?: ModelChoice
  /** Whether no user is present: after a compaction the agent is asked to continue by itself. */
  readonly autonomous?: boolean
  /**
   * Whether to keep the cache warm for a user who may return: during a pause the last request is repeated without output, while the planner
   * finds that this costs less than a cold cache. Default: false.
   */
  readonly keepWarm?: boolean
  /** Layers of the conversation. Default: layers 1 to 5, each with its flag. */
  readonly layers?: readonly Layer[]
  /** @internal Creates the layers from the agent's parts. Used if `layers` is not set. */
  readonly makeLayers?: (surroundings: LayerDependencies) => readonly Layer[]
  /** OpenFeature client that evaluates the flags. */
  readonly flags?: FlagClient
  /** Reorders search results of the Recall tool, for example with a reranking model. Default: built-in order. */
  readonly rerank?: Rerank
  /** Computes embeddings. The Recall tool's search then also finds semantically similar texts. Default: full-text search only. */
  readonly embed?: EmbedFunction
  /** Store of journals and memories. Default: files in `dir`. */
  readonly store?: Store
  readonly clock?: Clock
  readonly ids?: Ids
  /** Environment variables. Default: those of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

const MODE = oneOf(...PERMISSION_MODES)

const RULES: OptionRules<SingleAgentOptions> = {
  model: required(MODEL_OPTION),
  client: CLIENT_OPTION,
  tools: {
    expected: "codingTools(), or a list of tools and toolsets",
    accepts: (value) => typeof value === "object" && value !== null && Symbol.iterator in value,
  },
  cwd: anOption.filledText,
  project: anOption.filledText,
  system: SYSTEM_OPTION,
  id: anOption.filledText,
  mustExist: anOption.switch,
  lockTimeoutMs: anOption.number,
  dir: anOption.filledText,
  title: anOption.text,
  memory: MEMORY_OPTION,
  mode: MODE,
  askPermission: anOption.callback,
  promptUser: anOption.callback,
  approvePlan: anOption.callback,
  hooks: anOption.list,
  reads: anOption.object,
  settings: anOption.object,
  effectiveSettings: anOption.object,
  trustProject: anOption.switchOrFunction,
  startedBy: oneOf("startup", "clear"),
  summariser: MODEL_OPTION,
  costLimit: anOption.number,
  autonomous: anOption.switch,
  keepWarm: anOption.switch,
  layers: LAYERS_OPTION,
  makeLayers: anOption.callback,
  flags: FLAGS_OPTION,
  rerank: anOption.callback,
  embed: anOption.callback,
  store: aPort.store,
  clock: aPort.clock,
  ids: aPort.ids,
  env: anOption.object,
}

export function checkAgentOptions(options: SingleAgentOptions): void {
  checkOptions("openAgent", options, RULES)
  checkTools(options.tools ?? [])
  options.hooks?.forEach((hook, at) => {
    checkHook(hook, `hooks[${at}]`)
  })
}

export function checkMode(mode: unknown): void {
  if (!MODE.accepts(mode))
    throw new InvalidOptionError("mode", `The mode must be ${MODE.expected}, not ${describe(mode)}.`)
}

/** Throws for an invalid rule, which would silently have no effect. */
export function checkRule(rule: unknown): void {
  if (typeof rule !== "string" || !isPermissionRule(rule))
    throw new InvalidOptionError("rule", `A permission rule must be ${PERMISSION_RULE}, not ${describe(rule)}.`)
}

const EVENT = oneOf(...HOOK_EVENTS)

/** Throws for an invalid hook. A hook for an unknown event would never run, and could not prevent anything. */
function checkHook(hook: Hook, item: string): void {
  const { event, run } = (hook ?? {}) as Partial<Hook>
  if (!EVENT.accepts(event))
    throw new InvalidOptionError("hooks", `${item}.event must be ${EVENT.expected}, not ${describe(event)}.`)
  if (typeof run !== "function")
    throw new InvalidOptionError("hooks", `${item}.run must be a function, not ${describe(run)}.`)
}

const ASK_RULES: OptionRules<AskOptions> = {
  signal: { expected: "an AbortSignal", accepts: (value) => value instanceof AbortSignal },
  maxTurns: anOption.number,
  costLimit: anOption.number,
  mentions: {
    expected: "true, false or a text",
    accepts: (value) => typeof value === "boolean" || typeof value === "string",
  },
  written: anOption.text,
}

export const checkAskOptions = (call: string, options: AskOptions): void => checkOptions(call, options, ASK_RULES)
