/**
 * A session: an agent opened as the command line asks for, with its tools, and what is needed to open another one in the same project.
 * The one place where `chat` and `run` meet the library.
 */
import { realpath, stat } from "node:fs/promises"
import { type ConversationListing, fileStore, loadSettings } from "@strata/core"
import { type Agent, type AgentOptions, type AskOptions, openAgent } from "@strata/core/agent"
import { defaultRoot, projectName } from "@strata/core/parts"
import { FileReads } from "@strata/core/tools"
import { UsageError } from "./command.ts"
import type { Connection } from "./connection.ts"
import { openingProblems } from "./opening.ts"
import type { Beginning, Environment, SessionOptions } from "./session-options.ts"
import { openProjectToolbox } from "./toolbox.ts"

/** Who answers questions. Nobody, where it is left out. */
export type Person = Pick<AgentOptions, "askPermission" | "askPerson" | "approvePlan">

export interface Workspace {
  /** Where everything is kept. */
  readonly root: string
  /** The project's directory, symlinks followed. */
  readonly cwd: string
  readonly project: string
  readonly env: Environment
  readonly options: SessionOptions
  readonly connection: Connection
  /** For every query (LOOP-6). */
  readonly limits: Pick<AskOptions, "maxTurns" | "costLimit">
}

export interface Session {
  readonly agent: Agent
  /** What could not be had: lines of the journal that are damaged, servers that did not start, skills that cannot be read. */
  readonly problems: readonly string[]
  close(): Promise<void>
}

export interface WorkspaceQuestion {
  readonly options: SessionOptions
  readonly connection: Connection
  readonly env: Environment
}

export async function openWorkspace({ options, connection, env }: WorkspaceQuestion): Promise<Workspace> {
  const cwd = await realpath(options.cwd).catch(() => {
    throw new UsageError(`There is no directory ${options.cwd}.`)
  })
  if (!(await stat(cwd)).isDirectory()) throw new UsageError(`${options.cwd} is not a directory.`)
  const { maxTurns, costLimit } = options
  const limits = { ...(maxTurns === undefined ? {} : { maxTurns }), ...(costLimit === undefined ? {} : { costLimit }) }
  return { root: defaultRoot(env), cwd, project: projectName(cwd), env, options, connection, limits }
}

/** The project's conversations in which something was asked, the one touched last first. */
export async function conversationsOf({ root, project }: Workspace): Promise<readonly ConversationListing[]> {
  const all = await fileStore({ root }).list(project)
  return all.filter(({ facts, firstWords }) => facts !== undefined || firstWords !== undefined)
}

export interface SessionQuestion {
  readonly workspace: Workspace
  readonly person: Person
  /** A conversation kept earlier; without it a new one begins. */
  readonly resumed?: ConversationListing | undefined
  /** Another model than the command line or the conversation names. */
  readonly model?: string
  readonly mode?: AgentOptions["mode"]
  /** For a new conversation. */
  readonly title?: string
  /** Nobody is there to answer: after a compaction the agent goes on by itself. */
  readonly autonomous?: boolean
}

export async function openSession({ workspace, person, resumed, ...wanted }: SessionQuestion): Promise<Session> {
  const { root, cwd, env, options, connection } = workspace
  const settings = await loadSettings({ home: root, cwd, env })
  const { summariserModel } = settings.values
  const own = options.isModelGiven ? undefined : resumed?.facts?.model
  const model = connection.model(wanted.model ?? own ?? options.model, settings.values.models)
  const mode = wanted.mode ?? options.mode
  const toolbox = await openProjectToolbox({ root, cwd, servers: settings.values.mcpServers })
  try {
    const agent = await openAgent({
      model,
      tools: toolbox.tools,
      cwd,
      env,
      reads: new FileReads(),
      ...person,
      ...(resumed === undefined ? {} : { id: resumed.id, mustExist: true }),
      ...(wanted.title === undefined ? {} : { title: wanted.title }),
      ...(mode === undefined ? {} : { mode }),
      ...(wanted.autonomous ? { autonomous: true } : {}),
      ...(summariserModel === undefined
        ? {}
        : { summariser: connection.model(summariserModel, settings.values.models) }),
      ...(options.system === undefined ? {} : { system: options.system }),
      ...(options.allow.length === 0 ? {} : { settings: { permissions: { allow: [...options.allow] } } }),
    })
    if (!agent.chat.opened.resumed) for (const attachment of toolbox.introductions) await agent.chat.attach(attachment)
    const problems = [...openingProblems(agent.chat.opened), ...toolbox.problems]
    return { agent, problems, close: () => agent.close().finally(() => toolbox.close()) }
  } catch (error) {
    await toolbox.close()
    throw explained(error, root)
  }
}

/** A directory that cannot be written is the person's to mend: what it is for, and how to name another. */
function explained(error: unknown, root: string): unknown {
  const { code, path } = error as NodeJS.ErrnoException
  if (code === undefined || !path?.startsWith(root)) return error
  return new Error(
    `Conversations are kept in ${root}, but ${path} cannot be used (${code}). Nothing was sent. STRATA_HOME names another directory.`,
    { cause: error },
  )
}

/** The conversation a command line names; nothing for a new one. */
export async function findConversation(
  workspace: Workspace,
  beginning: Beginning,
): Promise<ConversationListing | undefined> {
  if (beginning.from === "new") return undefined
  const conversations = await conversationsOf(workspace)
  if (conversations.length === 0)
    throw new UsageError("There is no conversation in this project yet, so there is none to go on with.")
  return beginning.from === "id" ? findById(beginning.id, conversations) : conversations[0]
}

/** By its id, or by a beginning of it that fits no other. */
export function findById(id: string, conversations: readonly ConversationListing[]): ConversationListing {
  const fitting = conversations.filter((conversation) => conversation.id.startsWith(id))
  const exact = fitting.find((conversation) => conversation.id === id)
  if (exact ?? fitting.length === 1) return exact ?? fitting[0]!
  if (fitting.length > 1) throw new UsageError(`${fitting.length} conversations begin with ${id}. Give more of the id.`)
  throw new UsageError(`There is no conversation ${id} in this project. strata chat --resume lists those there are.`)
}
