/** The options of `openAgent`, and their check. */
import type { Clock, Ids } from "../base/clock.ts"
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
import {
  HOOK_EVENTS,
  isPermissionRule,
  PERMISSION_MODES,
  PERMISSION_RULE,
  type PermissionMode,
} from "../base/vocabulary.ts"
import type { LayerSurroundings } from "../conversation/default-layers.ts"
import { FLAGS_OPTION, LAYERS_OPTION, SYSTEM_OPTION } from "../conversation/options.ts"
import type { Store } from "../journal/store.ts"
import type { Layer } from "../layers/layer.ts"
import type { SystemPrompt } from "../messages/request.ts"
import type { AnthropicClient } from "../model/anthropic/anthropic.ts"
import { CLIENT_OPTION, MODEL_OPTION, type ModelChoice } from "../model/choose-model.ts"
import type { Embed } from "../recall/vectors/embedded-passages.ts"
import type { FlagClient } from "../settings/flags.ts"
import type { ProjectPart } from "../settings/project-parts.ts"
import type { EffectiveSettings, SettingsInput } from "../settings/settings.ts"
import type { Rerank } from "../tools/session/rerank.ts"
import type { ReadState, Tool, Toolset, UserQuestion } from "../tools/tool.ts"
import type { Hook } from "./hooks/hooks.ts"
import type { PermissionAnswer, PermissionRequest } from "./permissions/admit-call.ts"
import { checkTools } from "./tools/toolsets.ts"

export interface AskOptions {
  readonly signal?: AbortSignal
  /** Requests to the model in this query. */
  readonly maxTurns?: number
  /** Dollars for the whole conversation. */
  readonly costLimit?: number
  /**
   * Attaches the files that the prompt names as `@path`, if they can be read without permission. A text: those that it names, where only a
   * part of the prompt is the person's. Default: false.
   */
  readonly mentions?: boolean | string
  /** The part of the prompt that the person typed, where a program added the rest. Only this can become a rule. Default: all of it. */
  readonly written?: string
}

/** A person's answer to a plan. */
export interface PlanAnswer {
  readonly approved: boolean
  readonly remark?: string
}

export interface SingleAgentOptions {
  /** A model id such as `"claude-opus-5-5"`, a `Model`, or a model of the Vercel AI SDK. */
  readonly model: ModelChoice
  /** Sends the requests of a model given by its id. Default: a client with the key in `ANTHROPIC_API_KEY`. */
  readonly client?: AnthropicClient
  /** `codingTools()`, or a list of tools and toolsets. The agent opens toolsets and closes them. Default: none. */
  readonly tools?: Toolset | readonly (Tool | Toolset)[]
  /** The project's directory. Paths are relative to it, and reading in it needs no permission. Default: the working directory. */
  readonly cwd?: string
  /** What the project is called. Default: `STRATA_PROJECT`, the setting, else the git remote, the first commit, or the path. */
  readonly project?: string
  /** Default: a prompt for work on a project. */
  readonly system?: SystemPrompt
  /** The conversation to continue, or the id of a new one. Default: a new id. */
  readonly id?: string
  /** Fail if there is no conversation with this id. Default false. */
  readonly mustExist?: boolean
  /** How many milliseconds to wait while another process has the conversation open. Default 0: `ConversationLockedError` at once. */
  readonly lockTimeoutMs?: number
  /** Where journals are kept. Default: `STRATA_HOME`, else `.strata` in the home directory. */
  readonly dir?: string
  readonly title?: string
  /**
   * Whose conversation it is, such as `{ owner: userId }`. Memories, past conversations and messages are shared by the conversations of one
   * owner, and by no others. Default: nothing is shared, and only this conversation is searched.
   */
  readonly memory?: MemoryOption
  /**
   * Default: the mode of the resumed conversation, except `bypass`. For a new one the settings' mode, else `ask` if you pass
   * `askPermission`, else `accept-edits`.
   */
  readonly mode?: PermissionMode
  /** Asks a person whether a call may run. Without it, a call that must be asked about is refused. */
  readonly askPermission?: (request: PermissionRequest) => PermissionAnswer | Promise<PermissionAnswer>
  /** Asks a person a question of the model. */
  readonly promptUser?: (question: UserQuestion) => string | undefined | Promise<string | undefined>
  /** Shows a plan and asks for approval. Without it, no plan is approved. */
  readonly approvePlan?: (plan: string) => PlanAnswer | Promise<PlanAnswer>
  readonly hooks?: readonly Hook[]
  /** What the model has seen of files. Default: a new record. */
  readonly reads?: ReadState
  readonly settings?: SettingsInput
  /** All settings, as `readSettings` has read them. No file is read again, and neither `settings` nor `trustProject` counts. */
  readonly effectiveSettings?: EffectiveSettings
  /**
   * Whether what the project's settings would run or widen counts. Default: if a person trusted exactly these contents before. `true` trusts
   * it for this agent, `false` leaves it out. A function asks a person; a yes is kept, and it is called again only after a change.
   */
  readonly trustProject?: boolean | ((parts: readonly ProjectPart[]) => boolean | Promise<boolean>)
  /** For hooks on SessionStart: why a new conversation begins. Default: `startup`. A resumed one has `resume`. */
  readonly startedBy?: "startup" | "clear"
  /** Dollars for the whole conversation, with everyone who works for it. A query may name another limit. */
  readonly costLimit?: number
  /** Writes summaries in place of the conversation's own model. */
  readonly summariser?: ModelChoice
  /** No one is there to answer: after a compaction the agent is asked to continue by itself. */
  readonly autonomous?: boolean
  /**
   * A person may come back at any time: in a pause the last request is sent again without output, while the planner finds that this costs
   * less than a cold cache. Default: false.
   */
  readonly keepWarm?: boolean
  /** Default: layers 1 to 5, each with its switch. */
  readonly layers?: readonly Layer[]
  /** @internal Makes the layers from what the agent opened, in place of `layers`. */
  readonly makeLayers?: (surroundings: LayerSurroundings) => readonly Layer[]
  /** An OpenFeature client that drives the flags. */
  readonly flags?: FlagClient
  /** Puts what the Recall tool's search found in order, such as a reranking model. Default: our order. */
  readonly rerank?: Rerank
  /** Vectors of texts. The Recall tool's search then also finds what is near in meaning. Default: words alone. */
  readonly embed?: Embed
  /** Default: files under `dir`. */
  readonly store?: Store
  readonly clock?: Clock
  readonly ids?: Ids
  /** Default: the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

const MODE = oneOf(...PERMISSION_MODES)

const RULES: OptionRules<SingleAgentOptions> = {
  model: required(MODEL_OPTION),
  client: CLIENT_OPTION,
  tools: {
    is: "codingTools(), or a list of tools and toolsets",
    fits: (value) => typeof value === "object" && value !== null && Symbol.iterator in value,
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
  if (!MODE.fits(mode)) throw new InvalidOptionError("mode", `The mode must be ${MODE.is}, not ${describe(mode)}.`)
}

/** A rule that cannot be read would silently allow or deny nothing. */
export function checkRule(rule: unknown): void {
  if (typeof rule !== "string" || !isPermissionRule(rule))
    throw new InvalidOptionError("rule", `A permission rule must be ${PERMISSION_RULE}, not ${describe(rule)}.`)
}

const EVENT = oneOf(...HOOK_EVENTS)

/** A hook for an event that does not exist would never run, and what it should prevent would happen. */
function checkHook(hook: Hook, item: string): void {
  const { event, run } = (hook ?? {}) as Partial<Hook>
  if (!EVENT.fits(event))
    throw new InvalidOptionError("hooks", `${item}.event must be ${EVENT.is}, not ${describe(event)}.`)
  if (typeof run !== "function")
    throw new InvalidOptionError("hooks", `${item}.run must be a function, not ${describe(run)}.`)
}

const ASK_RULES: OptionRules<AskOptions> = {
  signal: { is: "an AbortSignal", fits: (value) => value instanceof AbortSignal },
  maxTurns: anOption.number,
  costLimit: anOption.number,
  mentions: { is: "true, false or a text", fits: (value) => typeof value === "boolean" || typeof value === "string" },
  written: anOption.text,
}

export const checkAskOptions = (call: string, options: AskOptions): void => checkOptions(call, options, ASK_RULES)
