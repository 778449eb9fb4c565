/**
 * What a tool is: a plain object with a name, a schema and a function. It knows neither the loop nor the conversation: all it needs comes
 * in its context. An error it throws becomes an error result for the model.
 */
import type { Clock } from "../base/clock.ts"
import type { Attachment, Todo } from "../messages/attachments.ts"
import type { Block } from "../messages/blocks.ts"
import type { CallChanges } from "../messages/messages.ts"
import type { InputSchema } from "../messages/tool-input.ts"
import type { CommandFacts, Confinement } from "./command.ts"
import type { RecallSource } from "./session/recall-source.ts"

/** `defineTool` infers `Input` from the schema. */
// biome-ignore lint/suspicious/noExplicitAny: a list holds tools of different inputs, and each input is checked before its tool gets it
export interface Tool<Input = any> {
  readonly name: string
  /** For the model: what the tool does and when to use it. */
  readonly description: string
  readonly inputSchema: InputSchema<Input>
  /** The call changes nothing. Such calls run side by side, and in plan mode. Default: false. */
  readonly readOnly?: boolean | ((input: Input) => boolean)
  /**
   * `true`: a person is asked unless a rule allows the call. `false`: no one is asked, though rules that deny or ask still hold.
   * Default: the kind of its `question` decides; a tool without one needs no approval.
   */
  readonly needsApproval?: boolean | ((input: Input, context: ToolContext) => boolean | Promise<boolean>)
  /** Returns text, a `ToolOutput`, or any JSON value, which the model gets as JSON text. May return a promise. */
  execute(input: Input, context: ToolContext): unknown
  /** What the call wants to do, for the person or the rule that allows it. Default: kind `other`, with the name and the input. */
  question?(input: Input, context: ToolContext): PermissionQuestion | Promise<PermissionQuestion>
  /** The tool keeps its own results short, so layer 1 leaves them alone. */
  readonly limitsItself?: boolean
  /** The tool returns all it has where large results are put aside. This many characters stay of a result that cannot be. */
  readonly shortResult?: number
  /** The model always sees the tool. Otherwise it may wait for ToolSearch where the definitions of all tools are large. Default: false. */
  readonly alwaysLoad?: boolean
  /** @internal Names of the tools that the model does not see until it loads them. Absent where it sees all of them. */
  unseen?(): ReadonlySet<string> | undefined
  /** @internal Called with the past of the conversation that the tool is passed to. */
  useIn?(past: RecallSource): void
  /** @internal The call is one of another tool, whose schema, permissions and hooks apply. */
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

/** What an MCP server sends to the model. */
export interface ModelSample {
  readonly server: string
  readonly system?: string
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly content: readonly Block[] }[]
  readonly maxTokens: number
}

/** The model's answer to a tool. */
export interface SampledAnswer {
  readonly text: string
  readonly model: string
  /** It was longer than the request allowed. */
  readonly isCut: boolean
}

/** The model, for requests of servers. */
export interface SampleModel {
  /** Whether a person can be asked for consent. */
  readonly canAsk: boolean
  ask(sample: ModelSample, signal: AbortSignal): Promise<SampledAnswer>
  /** Searches the web, where the model's API can. Resolves with the blocks of its answer. */
  search?(query: WebQuery, signal: AbortSignal): Promise<readonly Block[]>
}

/** A search on the web. */
export interface WebQuery {
  readonly query: string
  /** Only these domains, or none of these. */
  readonly allowed?: readonly string[]
  readonly blocked?: readonly string[]
}

/** What a toolset is opened with. */
export interface ToolsetContext {
  /** The project's directory. */
  readonly cwd: string
  /** The directory that Strata keeps its files in. */
  readonly root: string
  /** The directory for long outputs. They can be read without asking. Default: the local person's in this project. */
  readonly results?: string
  /** Default: the process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** For servers and tools that want to ask the model. */
  readonly sampling?: SampleModel
  /** The project's skills that a person trusted: what each file said, by its path. The others of a project are left out. */
  readonly trustedSkills?: ReadonlyMap<string, string>
}

/** The tools of a toolset, ready to run. */
export interface OpenToolset {
  /** Always in the same order, because the order is part of the cached prefix. */
  readonly tools: readonly Tool[]
  /** For the model, at the start of a conversation. */
  readonly introductions?: readonly Attachment[]
  /** For the person: what could not be opened. */
  readonly problems?: readonly string[]
  /** Directories outside the project that need no permission to read: the person's own skills. Links are followed. */
  readonly readable?: readonly string[]
  /** Tools that come after the opening. */
  readonly later?: DeferredToolAccess
  /** @internal For the person: the servers that tools come from. */
  servers?(): readonly ToolServer[]
  /** @internal For the person: commands that run in the background. */
  shells?(): readonly BackgroundShell[]
  /** The same tools for another agent of the project: with a shell of its own, on the same servers. Tools without it are shared. */
  fork?(): Promise<OpenToolset>
  close(): Promise<void>
}

/** A server may start slowly or change its list. Such tools are found with ToolSearch, so nothing before them changes. */
export interface DeferredToolAccess {
  /** In the order in which they came. */
  tools(): readonly Tool[]
  introductions(): readonly Attachment[]
  /** Whether more tools may come. Decided once, because the prompt depends on it. */
  readonly isExpected: boolean
  /** Grows with every change. */
  revision(): number
  /** Tries servers again that were away, in the background. Called with every query. */
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
  /** Why it failed, or what is needed. */
  readonly why?: string
  readonly tools: readonly Tool[]
  /** What the person can send by name. Empty until the server has listed them. */
  readonly prompts?: readonly ServerPrompt[]
  /** Absent where the server has none. */
  readonly resources?: ServerResources
  /** Signs the person in. Absent where the server offers no sign-in. */
  signIn?(user: SignInUser): Promise<void>
}

/** The one who signs in. */
export interface SignInUser {
  /**
   * Shows the address, and may open it in a browser if the person agrees. Resolves with the address or code that they paste, or with
   * `undefined` if they give up. The signal aborts when the browser has come back.
   */
  visit(address: string, signal: AbortSignal): Promise<string | undefined>
}

/** A text of a server that the person sends by name. */
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
  /** Content of the server, not the person's words. */
  text(given: Readonly<Record<string, string>>, signal: AbortSignal): Promise<string>
}

export interface ServerResources {
  list(signal: AbortSignal): Promise<{
    readonly resources: readonly ListedResource[]
    readonly templates: readonly ListedTemplate[]
  }>
  read(uri: string, signal: AbortSignal): Promise<ToolOutput>
}

interface AboutResource {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
}

export interface ListedResource extends AboutResource {
  readonly uri: string
}

/** A uri with parts to fill in. */
export interface ListedTemplate extends AboutResource {
  readonly uriTemplate: string
}

/** What a call would do, for rules and for a person. */
export interface PermissionQuestion {
  readonly kind: "read" | "write" | "execute" | "network" | "ask" | "other"
  /** One line for a person: `rm -rf build`, `edit src/index.ts`. */
  readonly summary: string
  /** The files it touches, as absolute paths with symlinks followed. */
  readonly paths?: readonly string[]
  /** Rules for this name count like rules for the tool: `mcp__db` covers the resources of the server db. */
  readonly ruleName?: string
  /** What the patterns in rules match when it is not a path: a command line, a URL. */
  readonly subject?: string
  /** What would change, for a person to look at. */
  readonly preview?: string
  /** @internal For a command line: everything it would run, read and write, as parsed. */
  readonly command?: CommandFacts
}

export interface ToolOutput {
  readonly content: string | readonly Block[]
  readonly isError?: boolean
  /** Added to the conversation after the results. */
  readonly attachments?: readonly Attachment[]
  /** Files it touched. Instruction files in their directories become relevant. */
  readonly touched?: readonly string[]
  /** Files that changed on disk while it ran. The journal keeps their names; the model is not sent them. */
  readonly filesChanged?: Omit<CallChanges, "callId">
}

/** What a tool may use. All but `signal`, `toolUseId`, `progress` and `unasked` belongs to the conversation. */
export interface ToolContext {
  readonly signal: AbortSignal
  /** The id of this call. */
  readonly toolUseId: string
  readonly clock: Clock
  /** Relative paths start here. `cd` in a shell moves it. */
  readonly directory: WorkingDirectory
  readonly reads: ReadState
  readonly env: Readonly<Record<string, string | undefined>>
  /** Shows a line while the call runs. */
  progress(text: string): void
  /** Asks the person. Missing where no one can be asked. */
  readonly promptUser?: (question: UserQuestion) => Promise<string | undefined>
  readonly todos: { get(): readonly Todo[]; set(todos: readonly Todo[]): void }
  readonly plan: PlanState
  /** What the rules say to a further step of this call, such as the target of a redirect. Missing where there are no rules. */
  readonly judgeStep?: (step: PermissionQuestion) => StepJudgement
  /** @internal Keeps the content of a file that is about to change, and resolves with its sum. */
  readonly keepFile?: (bytes: Uint8Array) => Promise<string>
  /** No person, rule, mode or hook said yes to this call: it runs because it changes nothing, or because its tool needs no approval. */
  readonly unasked?: true
  /** @internal How commands are confined. Default: those that no one allowed, in the system's sandbox. */
  readonly confinement?: () => Confinement
  /** Whether large results are put aside on disk. A tool may then return all it has. Otherwise it keeps its result short. */
  readonly putsAside?: () => boolean
}

/** Whether a step of a call may run. */
export interface StepJudgement {
  readonly verdict: "allow" | "ask" | "deny"
  /** Part of a sentence: `the rule "…" forbids it`. */
  readonly why: string
  /** A rule of the person's says so, not only the mode. */
  readonly byRule?: boolean
}

/** The part of a context that is the same for all calls of a conversation. */
export type SharedToolContext = Omit<ToolContext, "signal" | "progress" | "toolUseId" | "unasked">

/** The directory that the tools work in. */
export interface WorkingDirectory {
  get(): string
  set(path: string): void
}

/** A question of the model for the person. */
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

/** What the model has seen of files, so that it does not edit blindly or read the same thing twice. */
export interface ReadState {
  get(path: string): FileRead | undefined
  set(path: string, read: FileRead): void
  forget(path: string): void
  entries(): Iterable<readonly [string, FileRead]>
}

/** What the model has seen of a file. */
export interface FileRead {
  /** The file's content when it was last read or written. */
  readonly content: string
  readonly modifiedMs: number
  /** The lines shown, if not the whole file. */
  readonly range?: { readonly offset: number; readonly limit: number }
  /** The call whose result shows the content. */
  readonly toolUseId?: string
  readonly at: string
}
