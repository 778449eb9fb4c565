/** Options of `openConversation`, and their validation. */
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
import type { ExternalMessage, IncomingMessage } from "./incoming.ts"
import type { Prompt } from "./prompt.ts"

export interface ConversationOptions {
  /** A model id such as `"claude-opus-5-5"`, a `Model`, or a model of the Vercel AI SDK. */
  readonly model: ModelChoice
  /** The client that you send requests with. Notes and summaries use it too. Default: a client with the key in `ANTHROPIC_API_KEY`. */
  readonly client?: AnthropicClient
  readonly system?: SystemPrompt
  /** Tools from `defineTool`, or definitions in the API's format. */
  readonly tools?: readonly (Tool | ToolDefinition)[]
  /** Titled texts that are sent before the conversation, such as project instructions. */
  readonly context?: Readonly<Record<string, string>>
  /** Existing messages for a new conversation. */
  readonly messages?: readonly (IncomingMessage | ExternalMessage)[]
  /** Id of the conversation to continue, or of a new one. Default: a new id. */
  readonly id?: string
  /** Whether to fail if no conversation with this id exists. Default: false, which creates one. */
  readonly mustExist?: boolean
  /** Milliseconds to wait while another process has the conversation open. Default: 0, which throws `ConversationLockedError` at once. */
  readonly lockTimeoutMs?: number
  /** Strata's root directory, which contains the journals. Default: `STRATA_HOME`, else `.strata` in the home directory. */
  readonly dir?: string
  /** The project's directory. Default: the current working directory. */
  readonly cwd?: string
  /** Name of the project. Default: `STRATA_PROJECT`, the setting, else the git remote, the first commit, or the path. */
  readonly project?: string
  readonly title?: string
  /**
   * Owner of the conversation, such as `{ owner: userId }`. Conversations of one owner share memories and search, and share none with other
   * owners. Default: nothing is shared, and only this conversation is searched.
   */
  readonly memory?: MemoryOption
  /**
   * Purpose of the requests, for the ledger and telemetry. Default: `main`. For notes, compaction, memories or dreams, nothing is compacted
   * and no notes or memories are written.
   */
  readonly source?: RequestSource
  readonly settings?: SettingsInput
  /** Beta features that your requests enable. Some change the model's window. */
  readonly betas?: readonly string[]
  /** Set to false if you place cache breakpoints yourself. Default: true. */
  readonly cacheBreakpoints?: boolean
  /** Set to true if you send requests with `client.beta.messages`, so that the server can be asked to clear old results. Default: false. */
  readonly contextManagement?: boolean
  /** Layers of the conversation. Default: offloading, clearing, notes, compaction. */
  readonly layers?: readonly Layer[]
  /** Called after a compaction. Returns the prompt from then on. */
  readonly refreshPrompt?: () => Promise<Prompt>
  /** OpenFeature client that evaluates the flags. */
  readonly flags?: FlagClient
  /** Reorders search results of the Recall tool, for example with a reranking model. Default: built-in order. */
  readonly rerank?: Rerank
  /** Computes embeddings. The Recall tool's search then also finds semantically similar texts. Default: full-text search only. */
  readonly embed?: EmbedFunction
  /** Store of journals and memories. Default: files under `dir`. */
  readonly store?: Store
  readonly clock?: Clock
  readonly ids?: Ids
  /** Environment variables. Default: those of the process. */
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
