/** Opens an agent that can have others work for it: with the Agent tool, and a team that is closed with it. */

import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { z } from "zod/v4"
import type { Agent } from "../agent/agent.ts"
import { openAgentWith, type Surroundings, settingsFor } from "../agent/open-agent.ts"
import { checkAgentOptions, type SingleAgentOptions } from "../agent/options.ts"
import { isSafeId } from "../base/clock.ts"
import { describe, InvalidOptionError } from "../base/options.ts"
import { ownerIn, withFixedOwner } from "../base/owner.ts"
import { promptText } from "../base/text.ts"
import { strataDirectory } from "../journal/file/layout.ts"
import type { Store } from "../journal/store.ts"
import { storeFrom } from "../journal/store-from.ts"
import type { Model } from "../model/model.ts"
import type { EffectiveSettings } from "../settings/settings.ts"
import type { OpenToolset, Tool, Toolset } from "../tools/tool.ts"
import { AGENT_TOOL, agentTool, refusedAgentTool } from "./agent-tool.ts"
import { LEAD } from "./carrier.ts"
import { CHANGES_TOOL, changesTool } from "./changes-tool.ts"
import { type AgentDefinition, isAgentName, NAME_RULE, toolNames } from "./definitions/definition.ts"
import { agentListing } from "./definitions/listing.ts"
import { type LoadedDefinitions, loadAgentDefinitions } from "./definitions/load.ts"
import { type AgentMemoryGround, agentMemoryFor, projectOf } from "./definitions/memory-choice.ts"
import { worktreesOf } from "./isolation.ts"
import type { Mail } from "./mail.ts"
import type { TeamPlace } from "./mailbox-carrier.ts"
import { MESSAGE_KINDS } from "./messages.ts"
import { cheapestModel } from "./models.ts"
import { subAgentOpener } from "./open-sub-agent.ts"
import type { AgentOrder } from "./order.ts"
import { circleOf } from "./socket-carrier.ts"
import { Team } from "./team.ts"
import { Worktree, type WorktreePlace, worktreesDirectory } from "./worktree.ts"

// The SendMessage tool of one agent.

export const SEND_MESSAGE = "SendMessage"

const DESCRIPTION = promptText(new URL("./send-message.md", import.meta.url)).trim()

// the kind is a plain text here, so that an unknown one is refused with the list of those that exist
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
export interface SendMessageParts {
  /** The agent that has the tool. */
  readonly from: string
  readonly mail: Pick<Mail, "send">
}

/** @internal */
export function sendMessageTool({ from, mail }: SendMessageParts): Tool<SendMessageInput> {
  return {
    name: SEND_MESSAGE,
    description: DESCRIPTION,
    inputSchema,
    limitsItself: true,
    readOnly: true, // it changes no file, and an agent that plans may ask
    needsApproval: false,
    question: ({ to, summary }) => ({
      kind: "other",
      summary: `send a message to ${to}${summary ? `: ${summary}` : ""}`,
    }),
    async execute({ to, message, summary }, { toolUseId }) {
      const about = summary === undefined ? {} : { summary }
      const sent = await mail.send({ from, to, message, ...about, newRequest: toolUseId })
      if (sent.state === "refused") return { content: `Not sent. ${sent.why}`, isError: true }
      const receivers = sent.to.join(", ")
      const asked = sent.request === undefined ? "" : ` The request has the id ${sent.request}.`
      return { content: `${sent.isQueued ? queuedFor(receivers) : `Sent to ${receivers}.`}${asked}` }
    },
  }
}

/** The other conversation may end before its next round, so an answer is the only proof that it was read. */
const queuedFor = (to: string) =>
  `Queued for ${to}. That conversation reads it at its next round; if it is closed before, the message is lost.`

export interface AgentOptions extends SingleAgentOptions {
  /** Lets the agent start others that work for it. A list adds your own kinds of agents. Default: it works alone. */
  readonly agents?: boolean | readonly AgentDefinition[]
  /** Makes this process a member of a team of several on the same directory. */
  readonly team?: TeamPlace
}

/** An agent with a team. The team lists, watches and stops its agents. */
export interface TeamAgent extends Agent {
  readonly team: Team
}

export async function openTeamAgent(given: AgentOptions): Promise<TeamAgent> {
  const { agents: _agents, team: _team, ...options } = given
  checkAgentOptions(options)
  const { settings, problems } = await settingsFor(options)
  return openTeamAgentWith(given, settings, { problems })
}

export interface TeamSurroundings extends Pick<Surroundings, "problems"> {
  /** Connects to the model of a sub-agent that has another one than its lead. Default: by its lead's client. */
  readonly modelNamed?: (id: string) => Model
}

/** For settings that were loaded before. */
async function openTeamAgentWith(
  { agents = true, team: place, ...given }: AgentOptions,
  settings: EffectiveSettings,
  { problems = [], modelNamed }: TeamSurroundings = {},
): Promise<TeamAgent> {
  checkAgentOptions(given)
  const options = withFixedOwner(given)
  const { definitions, problems: unusable } = await definitionsFor({ agents, options, settings })
  const models = { options, settings, modelNamed }
  const team: Team = new Team(
    subAgentOpener({
      ...models,
      teamTools: [AGENT_TOOL, CHANGES_TOOL, SEND_MESSAGE],
      toolsFor: ({ name }, order) => [
        ...(order.kind === "fork" ? [refusedAgentTool(), changesTool()] : []),
        ...(maySend(order) ? [sendMessageTool({ from: name, mail: team.mail })] : []),
      ],
    }),
    {
      clock: options.clock,
      cheapestModel: (model) => cheapestModel(model, models),
      mail: { place, root: socketRoot(options), circle: circleOf(options.memory) },
    },
  )
  const changes = Worktree.isPossibleIn(options.cwd ?? process.cwd()) ? [changesTool(worktreesOf(team, options))] : []
  const tools = [
    agentTool({ team, definitions: () => definitions }),
    ...changes,
    sendMessageTool({ from: LEAD, mail: team.mail }),
  ]
  const own = teamToolset(tools, definitions)
  const agent = await openAgentWith({ ...options, tools: [...(options.tools ?? []), own] }, settings, {
    problems: [...problems, ...unusable],
    companions: team,
  })
  try {
    await team.lead(agent)
    if (changes.length > 0) void dropLeftovers(agent, options)
  } catch (error) {
    await agent.close().catch(() => undefined) // why the opening failed matters more
    throw error
  }
  return Object.assign(agent, { team })
}

/** In the background: comparing a tree takes git a while. */
async function dropLeftovers({ conversation, shared }: Agent, { env = process.env, dir, store }: SingleAgentOptions) {
  const root = dir ?? strataDirectory(env)
  const { project: cwd } = shared.state.policy
  const place = { cwd, root, env, project: conversation.place, conversation: conversation.id }
  await dropUnchangedWorktrees({ ...place, store: storeFrom({ store, dir: root, env }) })
}

/** A fork has the tools of its lead. A teammate can answer unless its definition forbids it. Others have it unless they list tools without it. */
function maySend({ kind, definition }: AgentOrder): boolean {
  if (kind === "fork") return true
  if (definition?.disallowedTools?.includes(SEND_MESSAGE)) return false
  return kind === "teammate" || (definition?.tools?.includes(SEND_MESSAGE) ?? true)
}

/** Sockets are on this machine, also if the store is not. A program with a store of its own names a directory for them. Windows has none. */
function socketRoot({ store, dir, env = process.env }: SingleAgentOptions): string | undefined {
  return (store && dir === undefined) || process.platform === "win32" ? undefined : (dir ?? strataDirectory(env))
}

/** The team's tools come last, so that the list before them stays as it is without a team. */
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

interface DefinitionSources {
  readonly agents: unknown
  readonly options: SingleAgentOptions
  readonly settings: EffectiveSettings
}

/** Those given in code come first: a file must not replace what the program relies on. A memory that cannot be used is said now. */
async function definitionsFor({ agents, options, settings }: DefinitionSources): Promise<LoadedDefinitions> {
  const given = givenDefinitions(agents)
  const { env = process.env, cwd = process.cwd() } = options
  const root = options.dir ?? strataDirectory(env)
  const loaded = await loadAgentDefinitions({ root, home: env.HOME, project: settings.agents })
  const names = new Set(given.map(({ name }) => name.toLowerCase()))
  const definitions = [...given, ...loaded.definitions.filter(({ name }) => !names.has(name.toLowerCase()))]
  const owner = ownerIn(options.memory)
  const ground: AgentMemoryGround = {
    store: storeFrom({ store: options.store, dir: root, env }),
    owner,
    cwd,
    project: () => projectOf(options, settings.values),
    home: env.HOME,
    settings,
  }
  const choices = await Promise.all(definitions.map((definition) => agentMemoryFor(definition, ground)))
  const refusals = choices.flatMap((choice) => (choice.state === "refused" ? [choice.why] : []))
  return { definitions, problems: [...given.flatMap(leftOut), ...loaded.problems, ...refusals] }
}

const leftOut = ({ name, tools = [] }: AgentDefinition): readonly string[] =>
  toolNames(tools, "tools").remarks.map((remark) => `The agent ${name}: ${remark}.`)

function givenDefinitions(agents: unknown): readonly AgentDefinition[] {
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
 * Removes working trees that agents left without a change because their process was killed. Only those that Strata made for this
 * repository, and only of conversations that no process has open. A tree with changes stays until someone merges or drops it.
 */
interface Leftovers extends Pick<WorktreePlace, "cwd" | "root" | "env" | "project"> {
  readonly store: Store
  /** The conversation that is open here. None of its agents has begun yet. */
  readonly conversation: string
}

/** Never rejects: what cannot be removed now is looked at again at the next start. */
async function dropUnchangedWorktrees(leftovers: Leftovers): Promise<void> {
  const { store, project, conversation: own } = leftovers
  const directory = worktreesDirectory(leftovers)
  for (const conversation of await namesIn(directory)) {
    const agents = await namesIn(join(directory, conversation))
    try {
      // opening it for writing takes its lock, so no process begins to work in these trees meanwhile
      const journal =
        conversation === own ? undefined : await store.open({ project, id: conversation }, { access: "write" })
      try {
        for (const agent of agents) await dropIfUnchanged({ ...leftovers, conversation, agent })
      } finally {
        await journal?.close()
      }
    } catch {} // of another project, or in use
  }
}

async function dropIfUnchanged(place: WorktreePlace): Promise<void> {
  try {
    const worktree = await Worktree.find(place)
    const changes = await worktree?.changes() // fails for a tree of another repository
    if (changes?.files.length === 0) await worktree?.drop()
  } catch {}
}

const namesIn = async (directory: string): Promise<readonly string[]> =>
  (await readdir(directory).catch(() => [])).filter(isSafeId)
