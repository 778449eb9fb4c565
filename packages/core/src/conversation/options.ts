/** The options of `openConversation`, and their check. */
import type { Clock, Ids } from "../base/clock.ts"
import { REQUEST_SOURCES, type RequestSource } from "../base/enums.ts"
import {
  anOption,
  aPort,
  checkOptions,
  type OptionRule,
  type OptionRules,
  objectWithMethods,
  required,
} from "../base/options.ts"
import { MEMORY_OPTION, type MemoryOption } from "../base/owner.ts"
import type { Store } from "../journal/store.ts"
import type { Layer } from "../layers/layer.ts"
import type { SystemPrompt, ToolDefinition } from "../messages/request.ts"
import type { AnthropicClient } from "../model/anthropic/anthropic.ts"
import { CLIENT_OPTION, MODEL_OPTION, type ModelChoice } from "../model/choose-model.ts"
import type { EmbedFunction } from "../recall/vectors/embedded-passages.ts"
import type { FlagClient } from "../settings/flags.ts"
import type { SettingsInput } from "../settings/settings.ts"
import type { Rerank } from "../tools/session/rerank.ts"
import type { Tool } from "../tools/tool.ts"
import type { IncomingMessage, OtherMessage } from "./incoming.ts"
import type { Prompt } from "./prompt.ts"

export interface ConversationOptions {
  /** A model id such as `"claude-opus-5-5"`, a `Model`, or a model of the Vercel AI SDK. */
  readonly model: ModelChoice
  /** The client you send requests with. Notes and summaries are asked for through it. Default: one with the key in `ANTHROPIC_API_KEY`. */
  readonly client?: AnthropicClient
  readonly system?: SystemPrompt
  /** Tools from `defineTool`, or definitions as the API takes them. */
  readonly tools?: readonly (Tool | ToolDefinition)[]
  /** Titled texts sent before the conversation, such as project instructions. */
  readonly context?: Readonly<Record<string, string>>
  /** Messages you already have, for a new conversation. */
  readonly messages?: readonly (IncomingMessage | OtherMessage)[]
  /** The conversation to continue, or the id of a new one. Default: a new id. */
  readonly id?: string
  /** Fail if there is no conversation with this id. Default false: a new one begins. */
  readonly mustExist?: boolean
  /** How many milliseconds to wait while another process has the conversation open. Default 0: `ConversationLockedError` at once. */
  readonly lockTimeoutMs?: number
  /** Where journals are kept. Default: `STRATA_HOME`, else `.strata` in the home directory. */
  readonly dir?: string
  /** The project's directory. Default: the working directory. */
  readonly cwd?: string
  /** What the project is called. Default: `STRATA_PROJECT`, the setting, else the git remote, the first commit, or the path. */
  readonly project?: string
  readonly title?: string
  /**
   * Whose conversation it is, such as `{ owner: userId }`. Memories and past conversations are shared by the conversations of one owner, and
   * by no others. Default: nothing is shared, and only this conversation is searched.
   */
  readonly memory?: MemoryOption
  /**
   * What its requests are for, in the ledger and in telemetry. Default: `main`. Where they are for notes, a compaction, memories or a
   * dream, nothing is compacted and no notes or memories are taken.
   */
  readonly source?: RequestSource
  readonly settings?: SettingsInput
  /** Beta features your requests ask for. Some change the model's window. */
  readonly betas?: readonly string[]
  /** Set false if you place cache breakpoints yourself. Default true. */
  readonly cacheBreakpoints?: boolean
  /** Set true if you send requests with `client.beta.messages`. The server may then be asked to clear old results. Default false. */
  readonly contextManagement?: boolean
  /** Default: tool results put aside, old results cleared, notes, compaction. */
  readonly layers?: readonly Layer[]
  /** Called after a compaction, for the prompt from there on. */
  readonly refreshPrompt?: () => Promise<Prompt>
  /** An OpenFeature client that drives the flags. */
  readonly flags?: FlagClient
  /** Puts what the Recall tool's search found in order, such as a reranking model. Default: our order. */
  readonly rerank?: Rerank
  /** Vectors of texts. The Recall tool's search then also finds what is near in meaning. Default: words alone. */
  readonly embed?: EmbedFunction
  /** Default: files under `dir`. */
  readonly store?: Store
  readonly clock?: Clock
  readonly ids?: Ids
  /** Default: the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

const isText = (value: unknown) => typeof value === "string"

export const SYSTEM_OPTION: OptionRule = {
  expected: "a text or a list of text blocks",
  accepts: (value) => isText(value) || (Array.isArray(value) && value.every((block) => isText(block?.text))),
}

export const FLAGS_OPTION = objectWithMethods("an OpenFeature client", "getBooleanValue", "getNumberValue")

export const LAYERS_OPTION: OptionRule = {
  expected: "a list of layers",
  accepts: (value) => Array.isArray(value) && value.every(anOption.object.accepts),
}

const RULES: OptionRules<ConversationOptions> = {
  model: required(MODEL_OPTION),
  client: CLIENT_OPTION,
  system: SYSTEM_OPTION,
  tools: anOption.list,
  context: {
    expected: "an object of texts",
    accepts: (value) => anOption.object.accepts(value) && Object.values(value as object).every(isText),
  },
  messages: anOption.list,
  id: anOption.filledText,
  mustExist: anOption.switch,
  lockTimeoutMs: anOption.number,
  dir: anOption.filledText,
  cwd: anOption.filledText,
  project: anOption.filledText,
  title: anOption.text,
  memory: MEMORY_OPTION,
  source: {
    expected: `one of ${REQUEST_SOURCES.join(", ")}`,
    accepts: (value) => REQUEST_SOURCES.some((known) => known === value),
  },
  settings: anOption.object,
  betas: { expected: "a list of texts", accepts: (value) => Array.isArray(value) && value.every(isText) },
  cacheBreakpoints: anOption.switch,
  contextManagement: anOption.switch,
  layers: LAYERS_OPTION,
  refreshPrompt: anOption.callback,
  flags: FLAGS_OPTION,
  rerank: anOption.callback,
  embed: anOption.callback,
  store: aPort.store,
  clock: aPort.clock,
  ids: aPort.ids,
  env: anOption.object,
}

export const checkConversationOptions = (options: unknown): void => checkOptions("openConversation", options, RULES)
