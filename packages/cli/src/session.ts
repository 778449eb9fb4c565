/** A session: an agent with its tools, opened according to the command line. The only module where `chat` and `run` use the library. */
import { realpath, stat } from "node:fs/promises"
import { resolve } from "node:path"
import {
  type Agent,
  type AgentOptions,
  type AskOptions,
  codingTools,
  type EffectiveSettings,
  localUser,
  mcpServers,
  openAgent,
  type ProjectSettings,
  readSettings,
  type StoredConversation,
  StrataError,
  strataDirectory,
} from "@strata/core"
import type { Team, TeamJoinOptions } from "@strata/core/agent"
import { describeReason, isAboutDirectory, recoveryAdvice } from "@strata/core/base"
import { describeOpeningReport } from "@strata/core/store"
import { undecidedSentence } from "./claude/user-environment.ts"
import { UsageError } from "./command.ts"
import type { Connection } from "./connection.ts"
import { escapeInvisible } from "./display/escaped.ts"
import { sandboxNotice } from "./sandbox-notice.ts"
import type { ConversationStart, Environment, SessionOptions } from "./session-options.ts"
import { chooseConversation } from "./stored-conversation.ts"

/** Answers the agent's questions. If absent, every question is denied. */
export type SessionUser = Pick<AgentOptions, "askPermission" | "promptUser" | "approvePlan">

export interface Workspace {
  /** Directory of Strata's files. */
  readonly root: string
  /** Directory of the project, with symbolic links resolved. */
  readonly cwd: string
  readonly env: Environment
  readonly options: SessionOptions
  readonly connection: Connection
  /** The user's decision about the project's settings for this process. If absent, the stored decision applies. */
  readonly decision?: TrustDecision
  /** Limits for every query. */
  readonly limits: Pick<AskOptions, "maxTurns" | "costLimit">
}

/** A decision for exactly these settings. It does not apply after a change. */
export interface TrustDecision {
  readonly fingerprint: string
  readonly trusted: boolean
}

/** An agent. If there is no team, it works without sub-agents. */
export type SessionAgent = Agent & { readonly team?: Team }

export interface Session {
  readonly agent: SessionAgent
  /** Directory of the project whose memory is used. */
  readonly projectDirectory: string
  /** Sentences about untrusted settings, damaged journal lines, servers that did not start, and skills that cannot be read. */
  readonly problems: readonly string[]
  close(): Promise<void>
}

export interface WorkspaceInput {
  readonly options: SessionOptions
  readonly connection: Connection
  readonly env: Environment
}

export async function openWorkspace({ options, connection, env }: WorkspaceInput): Promise<Workspace> {
  const cwd = await realpath(options.cwd).catch(() => {
    throw new UsageError(`The directory ${options.cwd} does not exist.`)
  })
  if (!(await stat(cwd)).isDirectory()) throw new UsageError(`${options.cwd} is not a directory.`)
  const { maxTurns, costLimit } = options
  const limits = { ...(maxTurns === undefined ? {} : { maxTurns }), ...(costLimit === undefined ? {} : { costLimit }) }
  const workspace = { root: strataDirectory(env), cwd, env, options, connection, limits }
  if (!options.trust) return workspace
  const { fingerprint } = await readSettings({ cwd, env })
  return { ...workspace, decision: { fingerprint, trusted: true } }
}

export interface SessionInput {
  readonly workspace: Workspace
  readonly user: SessionUser
  /** An earlier conversation to continue. If absent, a new one starts. */
  readonly resumed?: StoredConversation | undefined
  /** Overrides the model of the command line and of the conversation. */
  readonly model?: string
  readonly mode?: AgentOptions["mode"]
  /** Title of a new conversation. */
  readonly title?: string
  /** Nobody can answer, so the agent continues by itself after a compaction. */
  readonly autonomous?: boolean
  /** Reason for a new conversation, for hooks. */
  readonly startedBy?: AgentOptions["startedBy"]
  /** Makes this process a member of a team of processes on the same directory. */
  readonly team?: TeamJoinOptions
}

export async function openSession({ workspace, user, resumed, ...wanted }: SessionInput): Promise<Session> {
  const { root, cwd, env, options, connection } = workspace
  const code = {
    ...(options.allow.length === 0 ? {} : { permissions: { allow: [...options.allow] } }),
    // a dream takes minutes and would be stopped at the end of the task
    ...(wanted.autonomous ? { switches: { dreaming: false } } : {}),
  }
  const reading = await readSettings({ cwd, env, settings: code })
  const { trusted, problems: untrusted } = await trustFor(workspace, reading)
  const { projectDirectory, problems: elsewhere, hasMemory } = await projectOf(resumed, cwd)
  const settings = reading.settings({ trusted })
  const { summariserModel } = settings.values
  const own = options.isModelGiven || !canAnswer(resumed?.model) ? undefined : resumed?.model
  const model = connection.model(wanted.model ?? own ?? options.model, settings.values.models)
  try {
    const asked: AgentOptions = {
      model,
      tools: [codingTools(), mcpServers(settings.values.mcpServers)],
      cwd,
      env,
      memory:
        resumed?.isOwned === false || !hasMemory
          ? false
          : { owner: localUser, ...(projectDirectory === cwd ? {} : { directory: projectDirectory }) },
      ...user,
      ...initialMode({ asked: wanted.mode ?? options.mode, resumed, configured: settings.values.permissions.mode }),
      ...(resumed === undefined ? {} : { id: resumed.id, mustExist: true }),
      ...(wanted.title === undefined ? {} : { title: wanted.title }),
      ...(wanted.autonomous ? { autonomous: true } : { keepWarm: true }),
      ...(wanted.startedBy ? { startedBy: wanted.startedBy } : {}),
      ...(options.costLimit === undefined ? {} : { costLimit: options.costLimit }),
      ...(summariserModel === undefined
        ? {}
        : { summariser: connection.model(summariserModel, settings.values.models) }),
      ...(options.system === undefined ? {} : { system: options.system }),
    }
    const agent = await openWith(asked, { settings, noAgents: options.noAgents, team: wanted.team })
    const undecided = wanted.autonomous ? undecidedSentence(reading.claude) : []
    const opening = describeOpeningReport(agent.conversation.openResult)
    const unconfined = wanted.autonomous ? [] : await sandboxNotice(settings.values.sandbox, root)
    const problems = [...unconfined, ...elsewhere, ...untrusted, ...undecided, ...opening, ...agent.problems]
    return { agent, projectDirectory, problems, close: () => agent.close() }
  } catch (error) {
    throw explainDirectoryError(error, root)
  }
}

/** Models of imported sessions that Strata cannot use. Models of a custom server do not match. */
const OTHER_MODELS = /^(?:unknown$|<|gpt-|o\d|codex|chatgpt|gemini|models\/|openai|google|amazon|azure)/i

const canAnswer = (model: string | undefined): boolean => model !== undefined && !OTHER_MODELS.test(model)

interface AgentOpenOptions {
  readonly settings: EffectiveSettings
  readonly noAgents: boolean
  readonly team: TeamJoinOptions | undefined
}

/** Opens the agent with a team, unless the command line or the settings disable sub-agents. */
function openWith(asked: AgentOptions, { settings, noAgents, team }: AgentOpenOptions): Promise<SessionAgent> {
  const { off, switches } = settings.values
  const isAlone = noAgents || (!team && (off || switches.agents === false))
  const options = { ...asked, effectiveSettings: settings }
  return isAlone ? openAgent(options) : openAgent({ ...options, agents: true, ...(team ? { team } : {}) })
}

/** Whether the project's settings apply in full, and sentences about those that do not. */
async function trustFor(
  { decision }: Workspace,
  reading: ProjectSettings,
): Promise<{ readonly trusted: boolean; readonly problems: readonly string[] }> {
  if (decision?.fingerprint === reading.fingerprint) {
    const isWithout = !decision.trusted && reading.items.length > 0
    return { trusted: decision.trusted, problems: isWithout ? [WITHOUT] : [] }
  }
  const trust = await reading.trust()
  if (trust.state !== "untrusted") return { trusted: true, problems: [] }
  const changed = trust.earlier === undefined ? [] : ["The settings of this project changed since you trusted them."]
  const problem = trust.problem === undefined ? [] : [trust.problem]
  return { trusted: false, problems: [...problem, ...changed, ...reading.untrusted, HOW_TO_TRUST] }
}

const WITHOUT =
  'The parts of this project\'s settings that run programs or widen permissions are ignored. "strata trust" shows them.'
const HOW_TO_TRUST = 'To use what was left out: "strata trust" shows it and asks you, and --trust uses it once.'

interface ModeChoice {
  readonly asked: AgentOptions["mode"]
  readonly resumed: StoredConversation | undefined
  readonly configured: AgentOptions["mode"]
}

/** The mode to open with. A resumed conversation keeps the mode in its journal, unless another one is requested. */
function initialMode({ asked, resumed, configured }: ModeChoice): Pick<AgentOptions, "mode"> {
  if (asked !== undefined) return { mode: asked }
  return resumed?.mode === undefined ? { mode: configured ?? "ask" } : {}
}

/** Explains why Strata's directory cannot be used, what it is for, and what to do. */
export function explainDirectoryError(error: unknown, root: string): unknown {
  const failure = (error instanceof StrataError ? (error.cause ?? {}) : error) as NodeJS.ErrnoException
  if (failure.code === undefined || !failure.path?.startsWith(root)) return error
  const help = isAboutDirectory(failure) ? "Set STRATA_HOME to another directory." : recoveryAdvice(failure)
  return new Error(
    `Strata keeps conversations in ${root}, but cannot use ${failure.path} (${describeReason(failure)}). Nothing was sent. ${help}`,
    { cause: error },
  )
}

/** The conversation of the command line. If absent, a new one starts. */
export interface FoundConversation {
  readonly conversation?: StoredConversation
  /** Sentences about an imported transcript. */
  readonly notes: readonly string[]
}

/** Finds the conversation of the command line. `calledFrom` is the directory that file names are relative to. */
export async function findConversation(
  { cwd, env }: Workspace,
  { beginning, calledFrom }: { readonly beginning: ConversationStart; readonly calledFrom: string },
): Promise<FoundConversation> {
  if (beginning.from === "new") return { notes: [] }
  if (beginning.from === "file") {
    const { resumeFile } = await import("./import/import-report.ts")
    return resumeFile({ file: resolve(calledFrom, beginning.file), cwd, env })
  }
  // a conversation without an owner is opened only by its id
  const consequence = '. Start one with "strata chat" or "strata run".'
  const { from } = beginning
  const id = from === "id" ? beginning.id : undefined
  const conversation = await chooseConversation({ cwd, env, id, alsoUnowned: from === "id", consequence })
  return { conversation, notes: from === "id" ? [] : elsewhere(conversation, cwd) }
}

const elsewhere = ({ directory = "", origin }: StoredConversation, cwd: string): readonly string[] =>
  directory === "" || directory === cwd || origin !== undefined
    ? []
    : [`This conversation was started in ${escapeInvisible(directory)}. It continues in this directory.`]

/**
 * The project whose memory is used. An imported session uses the memory of its original project; tools and trust use the current one. A
 * file that is not one of the user's own sessions cannot choose a project, so it gets no memory.
 */
async function projectOf(
  resumed: StoredConversation | undefined,
  cwd: string,
): Promise<Pick<Session, "projectDirectory" | "problems"> & { readonly hasMemory: boolean }> {
  const { origin, directory = "" } = resumed ?? {}
  const place = origin || directory
  if (origin === undefined || (await realpath(place).catch(() => place)) === cwd)
    return { projectDirectory: cwd, problems: [], hasMemory: true }
  const was = `It was in ${escapeInvisible(place)}. Strata works in this directory`
  return origin === ""
    ? {
        projectDirectory: cwd,
        problems: [`${was}, without memory: the file is not one of your own sessions.`],
        hasMemory: false,
      }
    : { projectDirectory: origin, problems: [`${was} and keeps what it learns for that project.`], hasMemory: true }
}
