/**
 * Opens a sub-agent with its lead's project, rules and tools, and a journal nested under the lead's. A fork starts with a copy of the
 * lead's journal, so its requests share all bytes with the lead's up to its directive.
 */
import { realpath } from "node:fs/promises"
import type { Agent } from "../agent/agent.ts"
import type { AgentLinks, SubAgentContext } from "../agent/loop/agent-links.ts"
import { openAgentWith } from "../agent/open-agent.ts"
import type { SingleAgentOptions } from "../agent/options.ts"
import type { PermissionAnswer } from "../agent/permissions/authorize-call.ts"
import { ownerOption } from "../base/owner.ts"
import { promptText } from "../base/text.ts"
import { engineOf } from "../conversation/conversation.ts"
import { assertNotForked, cloneReads, forkReply } from "../forks/fork.ts"
import { storeFrom } from "../journal/store-from.ts"
import { openWorkingCopy, type WorkingCopy } from "../memory/working-copy.ts"
import { type Content, isToolUse } from "../messages/blocks.ts"
import { contentOf } from "../messages/messages.ts"
import type { ModelRequest } from "../messages/request.ts"
import type { EffectiveSettings } from "../settings/settings.ts"
import { RECALL_TOOL } from "../tools/session/recall-source.ts"
import type { DeferredToolAccess, Tool, Toolset } from "../tools/tool.ts"
import type { AgentTask } from "./agent-task.ts"
import { type AgentDefinition, toolNames } from "./definitions/definition.ts"
import { type AgentMemoryChoice, agentMemoryFor, projectOf } from "./definitions/memory-choice.ts"
import { withMemoryTools } from "./definitions/memory-tools.ts"
import { isolate, withChanges } from "./isolation.ts"
import { type ModelSources, modelById, requestedModelId, summariserFor } from "./models.ts"
import type { AgentOutcome } from "./sub-agent.ts"
import type { Worktree } from "./worktree.ts"

export interface AgentIdentity {
  readonly id: string
  readonly name: string
  readonly lead: Agent
}

export interface PreparedAgent {
  readonly model: string
  /**
   * Resolves with the agent's first message. For a fork, copies the lead's journal before the calls of the lead's last response have
   * results.
   */
  begin(): Promise<Content>
  open(agentLinks: AgentLinks): Promise<Agent>
  /** Called after the agent has ended. May append to the result for its lead. */
  finish(outcome: AgentOutcome): Promise<AgentOutcome>
}

export type OpenSubAgent = (task: AgentTask, member: AgentIdentity) => PreparedAgent

export interface SubAgentSources extends ModelSources {
  /** Options that the lead was opened with. */
  readonly options: SingleAgentOptions
  /** Names of the team's own tools. */
  readonly teamTools: readonly string[]
  readonly toolsFor: (member: AgentIdentity, task: AgentTask) => readonly Tool[]
}

export function subAgentOpener(sources: SubAgentSources): OpenSubAgent {
  const ask = oneQuestionAtATime()
  return (task, member) => {
    const { lead } = member
    const requested = task.kind === "fork" ? undefined : (task.model ?? task.definition?.model)
    const id = requestedModelId(requested, lead.model, sources)
    let worktree: Worktree | undefined
    const ended = new AbortController()
    return {
      model: id ?? lead.model.name,
      async begin() {
        if (task.isolation) worktree = await isolate(member, sources.options)
        return task.kind === "fork" ? forkTask(task, member) : task.prompt
      },
      async finish(outcome) {
        ended.abort()
        return worktree ? withChanges(outcome, worktree, member.name) : outcome
      },
      open: async (agentLinks) => {
        const memory = await memoryFor(task, member, sources)
        try {
          const model = id === undefined ? lead.model : await modelById(id, lead.model, sources)
          const summariser = await summariserFor(lead.model, sources)
          const place = worktree ? { cwd: worktree.directory } : {}
          const copy = worktree ? { copy: { directory: await realpath(worktree.copy), of: worktree.top } } : {}
          return await openAgentWith(
            {
              ...subAgentOptions(task, member, { ...sources, memory }),
              ...askThroughLead(lead, member, (question) => ask(question, ended.signal)),
              ...place,
              model,
              ...(summariser ? { summariser } : {}),
            },
            memory ? sources.settings : withoutMemory(sources.settings),
            {
              agentLinks,
              sub: { ...subAgentContext(task, member), ...copy, ...(memory ? { memory: memory.place } : {}) },
            },
          )
        } finally {
          memory?.copy?.close() // the agent holds its own reference
        }
      },
    }
  }
}

type ChosenMemory = Extract<AgentMemoryChoice, { readonly state: "place" }> & { readonly copy?: WorkingCopy }

/** The memory that the agent's definition requests. Refusals were already reported when the lead was opened. */
async function memoryFor(
  { definition }: AgentTask,
  { lead }: AgentIdentity,
  { options, settings }: SubAgentSources,
): Promise<ChosenMemory | undefined> {
  if (definition?.memory === undefined) return undefined
  const { env = process.env } = options
  const store = storeFrom({ store: options.store, dir: options.dir, env })
  const cwd = lead.shared.state.policy.project
  const owner = ownerOption(options.memory)
  const project = () => projectOf(options, settings.values)
  const choice = await agentMemoryFor(definition, { store, owner, cwd, project, home: env.HOME, settings })
  if (choice.state !== "place") return undefined
  const copy =
    choice.directory === undefined ? await openWorkingCopy(store, choice.place).catch(() => undefined) : undefined
  return copy ? { ...choice, directory: copy.directory, copy } : choice
}

/** Copies the conversation up to the lead's last response. All forks of that response get the same message except for their directive. */
async function forkTask({ prompt }: AgentTask, { id, lead: { conversation } }: AgentIdentity): Promise<Content> {
  const { context } = engineOf(conversation).views
  assertNotForked(context.messages().messages as ModelRequest["messages"])
  const last = context.lastResponse
  if (!last) throw new Error("There is nothing to copy yet. Start the agent without fork.")
  await conversation.branch(last.uuid, { agent: id })
  const calls = contentOf(last).filter(isToolUse)
  return forkReply(
    calls.map((call) => call.id),
    prompt,
  )
}

type SourcesWithMemory = SubAgentSources & { readonly memory: ChosenMemory | undefined }

function subAgentOptions(
  task: AgentTask,
  member: AgentIdentity,
  sources: SourcesWithMemory,
): Omit<SingleAgentOptions, "model"> {
  const { dir, env, clock, ids, flags, store, hooks, system, layers, memory, project } = sources.options
  const { state } = member.lead.shared
  const isFork = task.kind === "fork"
  const inherited = { dir, env, clock, ids, flags, store, hooks, memory, project, ...(isFork ? { system } : {}) }
  return {
    ...(Object.fromEntries(
      Object.entries(inherited).filter(([, value]) => value !== undefined),
    ) as Partial<SingleAgentOptions>),
    ...layersFor(layers),
    id: member.id,
    mustExist: isFork,
    cwd: state.policy.project,
    mode: member.lead.mode,
    tools: toolsFor(task, member, sources),
    autonomous: true,
    ...(isFork ? { reads: cloneReads(state.toolContext.reads) } : {}),
  }
}

/** Layer instances keep state about the lead's conversation, so only a factory or an empty list is passed on. */
function layersFor(layers: SingleAgentOptions["layers"]): Pick<SingleAgentOptions, "layers"> {
  return typeof layers === "function" || layers?.length === 0 ? { layers } : {}
}

/** Turns project memory off: only the lead's conversation adds to the memory of the project. */
function withoutMemory(settings: EffectiveSettings): EffectiveSettings {
  return { ...settings, values: { ...settings.values, memory: "off" } }
}

function subAgentContext(task: AgentTask, { id, name, lead }: AgentIdentity): SubAgentContext {
  const { kind, definition } = task
  const { conversation, shared } = lead
  return {
    id,
    name,
    type: definition?.name ?? (kind === "fork" ? "fork" : "general"),
    prompt: definition?.prompt ?? promptText(new URL("./general-agent.md", import.meta.url)),
    mayRecall: allowedForTask(task)(RECALL_TOOL),
    namespace: engineOf(conversation).namespace,
    leadId: conversation.id,
    leadLocation: conversation.location,
    leadPolicy: () => shared.state.policy,
    budget: shared.budget,
    daily: shared.daily,
    duringCommand: shared.duringCommand,
  }
}

/** The lead's tools with a separate shell. A fork has the same list as its lead, because the list is part of the shared bytes. */
function toolsFor(task: AgentTask, member: AgentIdentity, sources: SourcesWithMemory): Toolset {
  const { teamTools, toolsFor: own, memory } = sources
  const replaced = new Map(own(member, task).map((tool) => [tool.name, tool]))
  const mayUse = allowedForTask(task)
  const { definition } = task
  const directory = memory?.directory
  const withMemory = (chosen: readonly Tool[], all: readonly Tool[]) =>
    definition && directory !== undefined ? withMemoryTools({ all, chosen, definition, directory }) : chosen
  const set: Toolset = {
    async open() {
      const forked = await member.lead.shared.toolset.fork()
      const tools = forked.tools.flatMap((tool) => {
        if (teamTools.includes(tool.name)) return replaced.get(tool.name) ?? []
        return mayUse(tool.name) ? [tool] : []
      })
      const introductions = (forked.introductions ?? []).filter(
        ({ type }) => task.kind === "fork" || type !== "agent_listing",
      )
      const later = forked.later && { later: deferredToolsFor(task, forked.later) }
      return { ...forked, tools: withMemory(tools, forked.tools), introductions, ...later }
    },
    *[Symbol.iterator]() {
      yield set
    },
  }
  return set
}

/** Deferred tools that the task allows. They are not expected if the definition lists its tools. */
const deferredToolsFor = (task: AgentTask, later: DeferredToolAccess): DeferredToolAccess => ({
  ...later,
  tools: () => later.tools().filter(({ name }) => allowedForTask(task)(name)),
  isExpected: later.isExpected && (task.kind === "fork" || task.definition?.tools === undefined),
})

const allowedForTask = ({ kind, definition }: AgentTask): ((name: string) => boolean) =>
  kind === "fork" ? () => true : allowedBy(definition)

/** Excludes tools with a pattern, such as `Bash(git:*)`: the agent would be allowed more than the definition states. */
function allowedBy({ tools, disallowedTools = [] }: Partial<AgentDefinition> = {}): (name: string) => boolean {
  const allowed = tools && new Set(toolNames(tools, "tools").names)
  const refused = new Set(toolNames(disallowedTools, "disallowedTools").names)
  return (name) => (!allowed || allowed.has("*") || allowed.has(name)) && !refused.has(name)
}

type Ask = (question: () => Promise<PermissionAnswer>) => Promise<PermissionAnswer>

/** Forwards permission questions of a sub-agent to the user of its lead, with the agent's name. */
function askThroughLead(
  { shared }: Agent,
  { name }: AgentIdentity,
  ask: Ask,
): Pick<SingleAgentOptions, "askPermission"> {
  const { askPermission } = shared
  if (!askPermission) return {}
  return { askPermission: (request) => ask(async () => askPermission({ ...request, agent: name })) }
}

/** Serializes permission questions, so that the user answers one at a time. Questions of an agent that has ended are dropped. */
function oneQuestionAtATime(): (question: Parameters<Ask>[0], ended: AbortSignal) => Promise<PermissionAnswer> {
  let last: Promise<unknown> = Promise.resolve()
  return (question, ended) => {
    const before = last
    const turn = before.then(() => (ended.aborted ? ({ allowed: false } as const) : question()))
    last = before.then(() => Promise.race([turn.catch(() => undefined), whenAborted(ended)]))
    return turn
  }
}

function whenAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }))
}
