/** Opens an agent that can start sub-agents: with the Agent tool, and a team that is closed with it. */

import { readdir } from "node:fs/promises"
import { join } from "node:path"
import * as z from "zod/v4"
import type { Agent } from "../agent/agent.ts"
import { type OpenAgentDependencies, openAgentWith, settingsFor } from "../agent/open-agent.ts"
import { checkAgentOptions, type SingleAgentOptions } from "../agent/options.ts"
import { isSafeId } from "../base/clock.ts"
import { describe, InvalidOptionError } from "../base/options.ts"
import { ownerOption, withFixedOwner } from "../base/owner.ts"
import { promptText } from "../base/text.ts"
import { engineOf } from "../conversation/conversation.ts"
import { strataDirectory } from "../journal/file/layout.ts"
import type { Store } from "../journal/store.ts"
import { storeFrom } from "../journal/store-from.ts"
import type { Model } from "../model/model.ts"
import type { EffectiveSettings } from "../settings/settings.ts"
import type { OpenToolset, Tool, Toolset } from "../tools/tool.ts"
import type { AgentTask } from "./agent-task.ts"
import { AGENT_TOOL, agentTool, refusedAgentTool } from "./agent-tool.ts"
import { CHANGES_TOOL, changesTool } from "./changes-tool.ts"
import { type AgentDefinition, isAgentName, NAME_RULE, toolNames } from "./definitions/definition.ts"
import { agentListing } from "./definitions/listing.ts"
import { type LoadedDefinitions, loadAgentDefinitions } from "./definitions/load.ts"
import { type AgentMemoryDependencies, agentMemoryFor, projectOf } from "./definitions/memory-choice.ts"
import { worktreeFinder } from "./isolation.ts"
import type { TeamJoinOptions } from "./mailbox-transport.ts"
import type { MessageRouter } from "./message-router.ts"
import { LEAD } from "./message-transport.ts"
import { MESSAGE_KINDS } from "./messages.ts"
import { cheapestModel } from "./models.ts"
import { subAgentOpener } from "./open-sub-agent.ts"
import { circleOf } from "./socket-transport.ts"
import { Team } from "./team.ts"
import { Worktree, type WorktreeLocation, worktreesDirectory } from "./worktree.ts"

export const SEND_MESSAGE = "SendMessage"

const DESCRIPTION = promptText(new URL("./send-message.md", import.meta.url)).trim()

// the kind is any string here, so that an unknown one is refused with a list of the valid ones
const inputSchema = z.object({
  to: z.string().min(1).describe('The receiver: a name, "*", "bridge:<conversation id>" or "uds:<path>".'),
  message: z
    .union([
      z.string(),
      z.looseObject({
        kind: z.string().describe(`One of ${MESSAGE_KINDS.join(", ")}.`),
        request: z.string().optional().describe("The id of the request that this answers."),
        approve: z.boolean().optional(),
        reason: z.string().optional(),
        plan: z.string().optional().describe("For plan_approval_request: the whole plan."),
      }),
    ])
    .describe("A text, or a structured message."),
  summary: z.string().optional().describe("5 to 10 words for the person who watches."),
})
type SendMessageInput = z.infer<typeof inputSchema>

/** @internal */
export interface SendMessageDependencies {
  /** Name of the agent that has the tool. */
  readonly from: string
  readonly mail: Pick<MessageRouter, "send">
}

/** @internal */
export function sendMessageTool({ from, mail }: SendMessageDependencies): Tool<SendMessageInput> {
  return {
    name: SEND_MESSAGE,
    description: DESCRIPTION,
    inputSchema,
    limitsItself: true,
    readOnly: true, // it changes no file, and an agent in plan mode may ask others
    needsApproval: false,
    question: ({ to, summary }) => ({
      kind: "other",
      summary: `send a message to ${to}${summary ? `: ${summary}` : ""}`,
    }),
    async execute({ to, message, summary }, { toolUseId }) {
      const label = summary === undefined ? {} : { summary }
      const sent = await mail.send({ from, to, message, ...label, newRequest: toolUseId })
      if (sent.state === "refused") return { content: `Not sent. ${sent.reason}`, isError: true }
      const receivers = sent.to.join(", ")
      const requestText = sent.request === undefined ? "" : ` The request has the id ${sent.request}.`
      return { content: `${sent.isQueued ? queuedMessage(receivers) : `Sent to ${receivers}.`}${requestText}` }
    },
  }
}

/** Queued is not read: the other conversation may end before its next round, so only an answer proves that it read the message. */
const queuedMessage = (to: string) =>
  `Queued for ${to}. That conversation reads it at its next round; if it is closed before, the message is lost.`

export interface AgentOptions extends SingleAgentOptions {
  /** Lets the agent start sub-agents. A list adds your own agent definitions. Default: no sub-agents. */
  readonly agents?: boolean | readonly AgentDefinition[]
  /** Makes this process a member of a team of processes in the same directory. */
  readonly team?: TeamJoinOptions
}

/** An agent with a team, which lists, watches and stops its sub-agents. */
export interface TeamAgent extends Agent {
  readonly team: Team
}

export async function openTeamAgent(given: AgentOptions): Promise<TeamAgent> {
  const { agents: _agents, team: _team, ...options } = given
  checkAgentOptions(options)
  const { settings, problems } = await settingsFor(options)
  return openTeamAgentWith(given, settings, { problems })
}

export interface TeamDependencies extends Pick<OpenAgentDependencies, "problems"> {
  /** Creates the model of a sub-agent that requests a different one. Default: a model with the lead's client. */
  readonly modelNamed?: (id: string) => Model
}

/** Opens the agent with settings that are already loaded. */
async function openTeamAgentWith(
  { agents = true, team: place, ...given }: AgentOptions,
  settings: EffectiveSettings,
  { problems = [], modelNamed }: TeamDependencies = {},
): Promise<TeamAgent> {
  checkAgentOptions(given)
  const options = withFixedOwner(given)
  const { definitions, problems: unusable } = await definitionsFor({ agents, options, settings })
  const models = { options, settings, modelNamed }
  const team: Team = new Team(
    subAgentOpener({
      ...models,
      teamTools: [AGENT_TOOL, CHANGES_TOOL, SEND_MESSAGE],
      toolsFor: ({ name }, task) => [
        ...(task.kind === "fork" ? [refusedAgentTool(), changesTool()] : []),
        ...(maySend(task) ? [sendMessageTool({ from: name, mail: team.mail })] : []),
      ],
    }),
    {
      clock: options.clock,
      cheapestModel: (model) => cheapestModel(model, models),
      mail: { team: place, root: socketRoot(options), circle: circleOf(options.memory) },
    },
  )
  const changes = Worktree.isPossibleIn(options.cwd ?? process.cwd())
    ? [changesTool(worktreeFinder(team, options))]
    : []
  const tools = [
    agentTool({ team, definitions: () => definitions }),
    ...changes,
    sendMessageTool({ from: LEAD, mail: team.mail }),
  ]
  const own = teamToolset(tools, definitions)
  const agent = await openAgentWith({ ...options, tools: [...(options.tools ?? []), own] }, settings, {
    problems: [...problems, ...unusable],
    agentLinks: team,
  })
  try {
    await team.attachLead(agent)
    if (changes.length > 0) void dropLeftovers(agent, options)
  } catch (error) {
    await agent.close().catch(() => undefined) // the cause of the failed opening matters more
    throw error
  }
  return Object.assign(agent, { team })
}

/** Runs in the background, because git takes a while to compare a tree. */
async function dropLeftovers({ conversation, shared }: Agent, { env = process.env, dir, store }: SingleAgentOptions) {
  const root = dir ?? strataDirectory(env)
  const { project: cwd } = shared.state.policy
  const place = { cwd, root, env, project: engineOf(conversation).namespace, conversation: conversation.id }
  await dropUnchangedWorktrees({ ...place, store: storeFrom({ store, dir: root, env }) })
}

/**
 * A fork has its lead's tools. A teammate has the tool unless its definition forbids it; others also need it in their list, if they have
 * one.
 */
function maySend({ kind, definition }: AgentTask): boolean {
  if (kind === "fork") return true
  if (definition?.disallowedTools?.includes(SEND_MESSAGE)) return false
  return kind === "teammate" || (definition?.tools?.includes(SEND_MESSAGE) ?? true)
}

/**
 * The directory for sockets, which are local even if the store is remote. A program with a custom store must pass `dir`. Windows has none.
 */
function socketRoot({ store, dir, env = process.env }: SingleAgentOptions): string | undefined {
  return (store && dir === undefined) || process.platform === "win32" ? undefined : (dir ?? strataDirectory(env))
}

/** Adds the team's tools at the end, so that the list before them is the same as without a team. */
function teamToolset(tools: readonly Tool[], definitions: readonly AgentDefinition[]): Toolset {
  const listing = agentListing(definitions)
  const opened: OpenToolset = { tools, introductions: listing ? [listing] : [], close: async () => undefined }
  const set: Toolset = {
    open: async () => opened,
    *[Symbol.iterator]() {
      yield set
    },
  }
  return set
}

interface TeamDefinitionSources {
  readonly agents: unknown
  readonly options: SingleAgentOptions
  readonly settings: EffectiveSettings
}

/** Loads the definitions. Those passed in code take precedence over files. Refused memories are reported here. */
async function definitionsFor({ agents, options, settings }: TeamDefinitionSources): Promise<LoadedDefinitions> {
  const given = validateDefinitions(agents)
  const { env = process.env, cwd = process.cwd() } = options
  const root = options.dir ?? strataDirectory(env)
  const loaded = await loadAgentDefinitions({ root, home: env.HOME, project: settings.agents })
  const names = new Set(given.map(({ name }) => name.toLowerCase()))
  const definitions = [...given, ...loaded.definitions.filter(({ name }) => !names.has(name.toLowerCase()))]
  const owner = ownerOption(options.memory)
  const memoryDependencies: AgentMemoryDependencies = {
    store: storeFrom({ store: options.store, dir: root, env }),
    owner,
    cwd,
    project: () => projectOf(options, settings.values),
    home: env.HOME,
    settings,
  }
  const choices = await Promise.all(definitions.map((definition) => agentMemoryFor(definition, memoryDependencies)))
  const refusals = choices.flatMap((choice) => (choice.state === "refused" ? [choice.reason] : []))
  return { definitions, problems: [...given.flatMap(omittedToolRemarks), ...loaded.problems, ...refusals] }
}

const omittedToolRemarks = ({ name, tools = [] }: AgentDefinition): readonly string[] =>
  toolNames(tools, "tools").remarks.map((remark) => `The agent ${name}: ${remark}.`)

function validateDefinitions(agents: unknown): readonly AgentDefinition[] {
  if (agents === true) return []
  if (!Array.isArray(agents)) throw new InvalidOptionError("agents", `${MUST_BE}, not ${describe(agents)}.`)
  for (const one of agents as readonly Partial<AgentDefinition>[]) {
    if (!one?.name || !one.description || !one.prompt)
      throw new InvalidOptionError("agents", `${MUST_BE}; this one lacks a part: ${describe(one)}.`)
    if (!isAgentName(one.name))
      throw new InvalidOptionError(
        "agents",
        `The agent ${JSON.stringify(one.name)} has a name that cannot be used: ${NAME_RULE}.`,
      )
  }
  return agents as readonly AgentDefinition[]
}

const MUST_BE =
  'The option "agents" of openAgent() must be true, or a list of agents with a name, a description and a prompt'

/**
 * Locates working trees of agents whose process was killed. Those without changes are removed if Strata made them for this repository and
 * no process has the conversation open. A tree with changes remains until it is merged or dropped.
 */
interface LeftoverWorktrees extends Pick<WorktreeLocation, "cwd" | "root" | "env" | "project"> {
  readonly store: Store
  /** Id of the conversation that is being opened. None of its agents has started yet. */
  readonly conversation: string
}

/** Never rejects. Trees that cannot be removed now are tried again at the next start. */
async function dropUnchangedWorktrees(leftovers: LeftoverWorktrees): Promise<void> {
  const { store, project, conversation: own } = leftovers
  const directory = worktreesDirectory(leftovers)
  for (const conversation of await namesIn(directory)) {
    const agents = await namesIn(join(directory, conversation))
    try {
      // opening for write takes the lock, so that no process starts to work in these trees meanwhile
      const journal =
        conversation === own ? undefined : await store.open({ project, id: conversation }, { access: "write" })
      try {
        for (const agent of agents) await dropIfUnchanged({ ...leftovers, conversation, agent })
      } finally {
        await journal?.close()
      }
    } catch {} // the conversation belongs to another project or is in use
  }
}

async function dropIfUnchanged(place: WorktreeLocation): Promise<void> {
  try {
    const worktree = await Worktree.find(place)
    const changes = await worktree?.changes() // throws for a tree of another repository
    if (changes?.files.length === 0) await worktree?.drop()
  } catch {}
}

const namesIn = async (directory: string): Promise<readonly string[]> =>
  (await readdir(directory).catch(() => [])).filter(isSafeId)
