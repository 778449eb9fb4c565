/**
 * The tool interface: a plain object with a name, a schema and a function. A tool depends on neither the loop nor the conversation: its
 * context provides what it needs. An error that it throws becomes an error result for the model.
 */
import type { Clock } from "../base/clock.ts"
import type { Attachment, Todo } from "../messages/attachments.ts"
import type { Block } from "../messages/blocks.ts"
import type { CallChanges } from "../messages/messages.ts"
import type { InputSchema } from "../messages/tool-input.ts"
import type { CommandLineFacts, Confinement } from "./command.ts"
import type { RecallSource } from "./session/recall-source.ts"

/** A tool that the model can call. `defineTool` infers `Input` from the schema. */
// biome-ignore lint/suspicious/noExplicitAny: a list holds tools of different inputs, and each input is checked before its tool gets it
export interface Tool<Input = any> {
  readonly name: string
  /** For the model: what the tool does and when to use it. */
  readonly description: string
  readonly inputSchema: InputSchema<Input>
  /** Whether a call changes nothing. Such calls run in parallel, and also in plan mode. Default: false. */
  readonly readOnly?: boolean | ((input: Input) => boolean)
  /**
   * `true`: the user is asked unless a rule allows the call. `false`: nobody is asked, but rules that deny or ask still apply. Default: the
   * kind
   * of its `question` decides, and a tool without a question needs no approval.
   */
  readonly needsApproval?: boolean | ((input: Input, context: ToolContext) => boolean | Promise<boolean>)
  /** Runs the call. May return text, a `ToolOutput`, any JSON value, which the model receives as JSON text, or a promise of these. */
  execute(input: Input, context: ToolContext): unknown
  /** Describes the call for the user or rule that approves it. Default: kind `other`, with the name and the input. */
  question?(input: Input, context: ToolContext): PermissionQuestion | Promise<PermissionQuestion>
  /** Whether the tool limits its own results, so that layer 1 does not offload them. */
  readonly limitsItself?: boolean
  /** The tool returns complete results if large ones are offloaded. If a result cannot be offloaded, it is cut to this many characters. */
  readonly shortResult?: number
  /**
   * Whether the tool is always declared. Otherwise ToolSearch may load it on demand if all definitions together are large. Default: false.
   */
  readonly alwaysLoad?: boolean
  /** @internal Names of deferred tools that the model has not loaded. Absent if all tools are declared. */
  unseen?(): ReadonlySet<string> | undefined
  /** @internal Called with the recall source of the conversation that the tool is passed to. */
  useIn?(past: RecallSource): void
  /** @internal Resolves the call of another tool, whose schema, permissions and hooks apply. */
  forwards?(input: Input): ForwardedCall
}

/** @internal */
export type ForwardedCall =
  | { readonly state: "forwarded"; readonly name: string; readonly input: unknown }
  /** `why` is for the model. */
  | { readonly state: "refused"; readonly why: string }

/** Tools that must be opened before use and closed afterwards. `tools: codingTools()` and `[...codingTools(), mine]` both work. */
export interface Toolset {
  open(context: ToolsetContext): Promise<OpenToolset>
  /** Yields the toolset itself, so that it can be spread into a list of tools. */
  [Symbol.iterator](): Iterator<Toolset>
}

/** A sampling request of an MCP server. */
export interface SamplingRequest {
  readonly server: string
  readonly system?: string
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly content: readonly Block[] }[]
  readonly maxTokens: number
}

/** The model's response to a sampling request. */
export interface SampledResponse {
  readonly text: string
  readonly model: string
  /** Whether the response was cut at the token limit. */
  readonly isCut: boolean
}

/** Access to the model for requests of servers and tools. */
export interface SampleModel {
  /** Whether the user can be asked for consent. */
  readonly canAsk: boolean
  ask(sample: SamplingRequest, signal: AbortSignal): Promise<SampledResponse>
  /** Searches the web, if the model's API supports it. Resolves with the blocks of the response. */
  search?(query: WebQuery, signal: AbortSignal): Promise<readonly Block[]>
}

/** A search on the web. */
export interface WebQuery {
  readonly query: string
  /** Domains to which the search is restricted. */
  readonly allowed?: readonly string[]
  readonly blocked?: readonly string[]
}

/** Environment in which a toolset is opened. */
export interface ToolsetContext {
  /** The project's directory. */
  readonly cwd: string
  /** Strata's root directory. */
  readonly root: string
  /** Directory for long outputs, which can be read without permission. Default: the local user's directory for this project. */
  readonly results?: string
  /** Default: the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Access to the model, for servers and tools that use it. */
  readonly sampling?: SampleModel
  /** The project's trusted skills: path of each file and its text at the time. Other skills of a project are ignored. */
  readonly trustedSkills?: ReadonlyMap<string, string>
}

/** The tools of a toolset, ready to run. */
export interface OpenToolset {
  /** The tools, always in the same order, because the order is part of the cached prefix. */
  readonly tools: readonly Tool[]
  /** Attachments for the model at the start of a conversation. */
  readonly introductions?: readonly Attachment[]
  /** Problems while opening, as sentences for the user. */
  readonly problems?: readonly string[]
  /** Directories outside the project that can be read without permission, such as the user's skills. Symbolic links are resolved. */
  readonly readable?: readonly string[]
  /** Tools that become available after opening. */
  readonly later?: DeferredToolAccess
  /** @internal The servers that provide tools, for display. */
  servers?(): readonly ToolServer[]
  /** @internal Commands that run in the background, for display. */
  shells?(): readonly BackgroundShell[]
  /** Opens the same tools for another agent of the project, with a separate shell and the same servers. Toolsets without it are shared. */
  fork?(): Promise<OpenToolset>
  close(): Promise<void>
}

/** Tools of servers that start slowly or change their list. ToolSearch finds them, so the cached prefix does not change. */
export interface DeferredToolAccess {
  /** The tools in order of arrival. */
  tools(): readonly Tool[]
  introductions(): readonly Attachment[]
  /** Whether more tools may arrive. Fixed at opening, because the prompt depends on it. */
  readonly isExpected: boolean
  /** Increases with every change of the list. */
  revision(): number
  /** Reconnects lost servers in the background. Called with every query. */
  wake(): void
}

export interface BackgroundShell {
  readonly id: string
  readonly command: string
  stop(): Promise<void>
}

export interface ToolServer {
  readonly name: string
  readonly state: "starting" | "connected" | "failed" | "needs-sign-in" | "lost" | "closed"
  /** Reason of the failure, or the required action. */
  readonly why?: string
  readonly tools: readonly Tool[]
  /** Prompts that the user can send by name. Empty until the server has listed them. */
  readonly prompts?: readonly ServerPrompt[]
  /** Absent if the server has no resources. */
  readonly resources?: ServerResources
  /** Signs the user in. Absent if the server offers no sign-in. */
  signIn?(user: SignInUser): Promise<void>
}

/** Interaction with the user during sign-in. */
export interface SignInUser {
  /**
   * Shows the address, and may open it in a browser if the user agrees. Resolves with the address or code that the user pastes, or with
   * `undefined` if they cancel. The signal aborts once the browser has returned the code.
   */
  visit(address: string, signal: AbortSignal): Promise<string | undefined>
}

/** A prompt of a server that the user can send by name. */
export interface ServerPrompt {
  readonly name: string
  /** `mcp__<server>__<prompt>` */
  readonly command: string
  readonly description: string
  readonly arguments: readonly {
    readonly name: string
    readonly isRequired: boolean
    readonly description?: string
  }[]
  /** Renders the prompt. It is content of the server, not the user's text. */
  text(given: Readonly<Record<string, string>>, signal: AbortSignal): Promise<string>
}

export interface ServerResources {
  list(signal: AbortSignal): Promise<{
    readonly resources: readonly ListedResource[]
    readonly templates: readonly ListedTemplate[]
  }>
  read(uri: string, signal: AbortSignal): Promise<ToolOutput>
}

interface ResourceInfo {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
}

export interface ListedResource extends ResourceInfo {
  readonly uri: string
}

/** A resource template: a URI with placeholders. */
export interface ListedTemplate extends ResourceInfo {
  readonly uriTemplate: string
}

/** The intended effect of a call, for permission rules and the user. */
export interface PermissionQuestion {
  readonly kind: "read" | "write" | "execute" | "network" | "ask" | "other"
  /** One line for the user: `rm -rf build`, `edit src/index.ts`. */
  readonly summary: string
  /** Affected files, as absolute paths with symbolic links resolved. */
  readonly paths?: readonly string[]
  /** An additional name that rules can use: `mcp__db` covers the resources of the server db. */
  readonly ruleName?: string
  /** Text that patterns in rules match if it is not a path: a command line, a URL. */
  readonly subject?: string
  /** Preview of the changes, for the user. */
  readonly preview?: string
  /** @internal The parsed command line: everything it would run, read and write. */
  readonly command?: CommandLineFacts
}

export interface ToolOutput {
  readonly content: string | readonly Block[]
  readonly isError?: boolean
  /** Added to the conversation after the results. */
  readonly attachments?: readonly Attachment[]
  /** Files that the call touched. Instruction files in their directories become relevant. */
  readonly touched?: readonly string[]
  /** Files that changed on disk during the call. The journal records their names; they are not sent to the model. */
  readonly filesChanged?: Omit<CallChanges, "callId">
}

/** Environment of a call. All members except `signal`, `toolUseId`, `progress` and `unapproved` are shared by the conversation. */
export interface ToolContext {
  readonly signal: AbortSignal
  /** Id of this call. */
  readonly toolUseId: string
  readonly clock: Clock
  /** Working directory, from which relative paths are resolved. `cd` in a shell changes it. */
  readonly directory: WorkingDirectory
  readonly reads: ReadState
  readonly env: Readonly<Record<string, string | undefined>>
  /** Displays a progress line while the call runs. */
  progress(text: string): void
  /** Asks the user a question. Absent if nobody can be asked. */
  readonly promptUser?: (question: UserQuestion) => Promise<string | undefined>
  readonly todos: { get(): readonly Todo[]; set(todos: readonly Todo[]): void }
  readonly plan: PlanState
  /** Applies the permission rules to a further step of this call, such as the target of a redirect. Absent without rules. */
  readonly judgeStep?: (step: PermissionQuestion) => StepJudgement
  /** @internal Stores the content of a file before it changes, and resolves with its hash. */
  readonly snapshotFile?: (bytes: Uint8Array) => Promise<string>
  /** No user, rule, mode or hook approved this call: it runs because it changes nothing, or because its tool needs no approval. */
  readonly unapproved?: true
  /** @internal How commands are confined. Default: unapproved commands run in the system's sandbox. */
  readonly confinement?: () => Confinement
  /** Whether large results are offloaded to disk. If so, a tool may return its complete result; otherwise it must limit it. */
  readonly offloadsResults?: () => boolean
}

/** Whether a step of a call may run. */
export interface StepJudgement {
  readonly verdict: "allow" | "ask" | "deny"
  /** Reason, as part of a sentence: `the rule "…" forbids it`. */
  readonly why: string
  /** Whether a rule of the user decided, and not only the mode. */
  readonly byRule?: boolean
}

/** The part of a context that all calls of a conversation share. */
export type SharedToolContext = Omit<ToolContext, "signal" | "progress" | "toolUseId" | "unapproved">

/** The working directory of the tools. */
export interface WorkingDirectory {
  get(): string
  set(path: string): void
}

/** A question of the model for the user. */
export interface UserQuestion {
  readonly text: string
  readonly options?: readonly string[]
}

/** Plan mode, for tools that enter or leave it. */
export interface PlanState {
  isActive(): boolean
  enter(): void
  /** Shows the plan and asks for approval. */
  leave(plan: string): Promise<{ readonly approved: boolean; readonly remark?: string }>
}

/** File contents that the model has seen, so that it does not edit blindly or read the same content twice. */
export interface ReadState {
  get(path: string): FileRead | undefined
  set(path: string, read: FileRead): void
  forget(path: string): void
  entries(): Iterable<readonly [string, FileRead]>
}

/** A file as the model has last seen it. */
export interface FileRead {
  /** The file's content when it was last read or written. */
  readonly content: string
  readonly modifiedMs: number
  /** Lines that were read, if not the complete file. */
  readonly range?: { readonly offset: number; readonly limit: number }
  /** Id of the call whose result contains the content. */
  readonly toolUseId?: string
  readonly at: string
}
