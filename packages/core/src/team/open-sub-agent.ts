/**
 * Opens an agent for another one: the same project, rules and tools, a journal of its own under the other's. A fork begins as a copy of
 * the other's journal, so its requests share the bytes of the other's up to its directive.
 */
import { realpath } from "node:fs/promises"
import type { Agent } from "../agent/agent.ts"
import type { Companions, SubAgentPlace } from "../agent/loop/companions.ts"
import { openAgentWith } from "../agent/open-agent.ts"
import type { SingleAgentOptions } from "../agent/options.ts"
import type { PermissionAnswer } from "../agent/permissions/admit-call.ts"
import { ownerIn } from "../base/owner.ts"
import { promptText } from "../base/text.ts"
import { assertNotForked, cloneReads, forkReply } from "../forks/fork.ts"
import { storeFrom } from "../journal/store-from.ts"
import { openWorkingCopy, type WorkingCopy } from "../memory/working-copy.ts"
import { type Content, isToolUse } from "../messages/blocks.ts"
import { contentOf } from "../messages/messages.ts"
import type { ModelRequest } from "../messages/request.ts"
import type { EffectiveSettings } from "../settings/settings.ts"
import { RECALL_TOOL } from "../tools/session/recall-source.ts"
import type { DeferredToolAccess, Tool, Toolset } from "../tools/tool.ts"
import { type AgentDefinition, toolNames } from "./definitions/definition.ts"
import { type AgentMemoryChoice, agentMemoryFor, projectOf } from "./definitions/memory-choice.ts"
import { withMemoryTools } from "./definitions/memory-tools.ts"
import { isolate, withChanges } from "./isolation.ts"
import { type ModelSources, modelById, summariserOf, wantedModel } from "./models.ts"
import type { AgentOrder } from "./order.ts"
import type { AgentOutcome } from "./sub-agent.ts"
import type { Worktree } from "./worktree.ts"

export interface Member {
  readonly id: string
  readonly name: string
  readonly lead: Agent
}

export interface PreparedAgent {
  readonly model: string
  /** Resolves with its first message. A fork copies the lead's journal now, before the calls of the lead's last answer have results. */
  begin(): Promise<Content>
  open(companions: Companions): Promise<Agent>
  /** Called after its end. May add to what its lead gets. */
  finish(outcome: AgentOutcome): Promise<AgentOutcome>
}

export type OpenSubAgent = (order: AgentOrder, member: Member) => PreparedAgent

export interface SubAgentSources extends ModelSources {
  /** What the lead was opened with. */
  readonly options: SingleAgentOptions
  /** The team's own tools: their names, and those that an agent gets in place of the lead's. */
  readonly teamTools: readonly string[]
  readonly toolsFor: (member: Member, order: AgentOrder) => readonly Tool[]
}

export function subAgentOpener(sources: SubAgentSources): OpenSubAgent {
  const ask = oneQuestionAtATime()
  return (order, member) => {
    const { lead } = member
    const wanted = order.kind === "fork" ? undefined : (order.model ?? order.definition?.model)
    const id = wantedModel(wanted, lead.model, sources)
    let worktree: Worktree | undefined
    const ended = new AbortController()
    return {
      model: id ?? lead.model.name,
      async begin() {
        if (order.isolation) worktree = await isolate(member, sources.options)
        return order.kind === "fork" ? forkTask(order, member) : order.prompt
      },
      async finish(outcome) {
        ended.abort()
        return worktree ? withChanges(outcome, worktree, member.name) : outcome
      },
      open: async (companions) => {
        const memory = await memoryFor(order, member, sources)
        try {
          const model = id === undefined ? lead.model : await modelById(id, lead.model, sources)
          const summariser = await summariserOf(lead.model, sources)
          const place = worktree ? { cwd: worktree.directory } : {}
          const copy = worktree ? { copy: { directory: await realpath(worktree.copy), of: worktree.top } } : {}
          return await openAgentWith(
            {
              ...optionsFor(order, member, { ...sources, memory }),
              ...asking(lead, member, (question) => ask(question, ended.signal)),
              ...place,
              model,
              ...(summariser ? { summariser } : {}),
            },
            memory ? sources.settings : withoutMemory(sources.settings),
            { companions, sub: { ...placeOf(order, member), ...copy, ...(memory ? { memory: memory.place } : {}) } },
          )
        } finally {
          memory?.copy?.close() // the agent has opened it too
        }
      },
    }
  }
}

type ChosenMemory = Extract<AgentMemoryChoice, { readonly state: "place" }> & { readonly copy?: WorkingCopy }

/** What its definition asks for. Why one gets no memory was said when the lead was opened. */
async function memoryFor(
  { definition }: AgentOrder,
  { lead }: Member,
  { options, settings }: SubAgentSources,
): Promise<ChosenMemory | undefined> {
  if (definition?.memory === undefined) return undefined
  const { env = process.env } = options
  const store = storeFrom({ store: options.store, dir: options.dir, env })
  const cwd = lead.shared.state.policy.project
  const owner = ownerIn(options.memory)
  const project = () => projectOf(options, settings.values)
  const choice = await agentMemoryFor(definition, { store, owner, cwd, project, home: env.HOME, settings })
  if (choice.state !== "place") return undefined
  const copy =
    choice.directory === undefined ? await openWorkingCopy(store, choice.place).catch(() => undefined) : undefined
  return copy ? { ...choice, directory: copy.directory, copy } : choice
}

/** The copy ends with the lead's last answer. Every fork of it gets the same message but for its directive. */
async function forkTask({ prompt }: AgentOrder, { id, lead: { conversation } }: Member): Promise<Content> {
  const { context } = conversation.views
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

function optionsFor(order: AgentOrder, member: Member, sources: SourcesWithMemory): Omit<SingleAgentOptions, "model"> {
  const { dir, env, clock, ids, flags, store, hooks, system, layers, memory, project } = sources.options
  const { state } = member.lead.shared
  const isFork = order.kind === "fork"
  const given = { dir, env, clock, ids, flags, store, hooks, memory, project, ...(isFork ? { system } : {}) }
  return {
    ...(Object.fromEntries(
      Object.entries(given).filter(([, value]) => value !== undefined),
    ) as Partial<SingleAgentOptions>),
    ...layersFor(layers),
    id: member.id,
    mustExist: isFork,
    cwd: state.policy.project,
    mode: member.lead.mode,
    tools: toolsFor(order, member, sources),
    autonomous: true,
    ...(isFork ? { reads: cloneReads(state.toolContext.reads) } : {}),
  }
}

/** Layers that were made for the lead's conversation keep state about it. None at all means none here either. */
function layersFor(layers: SingleAgentOptions["layers"]): Pick<SingleAgentOptions, "layers"> {
  return typeof layers === "function" || layers?.length === 0 ? { layers } : {}
}

/** What it learns is for its lead: only the lead's conversation adds to the memory of the project. */
function withoutMemory(settings: EffectiveSettings): EffectiveSettings {
  return { ...settings, values: { ...settings.values, memory: "off" } }
}

function placeOf(order: AgentOrder, { id, name, lead }: Member): SubAgentPlace {
  const { kind, definition } = order
  const { conversation, shared } = lead
  return {
    id,
    name,
    type: definition?.name ?? (kind === "fork" ? "fork" : "general"),
    prompt: definition?.prompt ?? promptText(new URL("./general-agent.md", import.meta.url)),
    mayRecall: allowedIn(order)(RECALL_TOOL),
    project: conversation.place,
    under: conversation.id,
    leadLocation: conversation.location,
    within: () => shared.state.policy,
    budget: shared.budget,
    daily: shared.daily,
    duringCommand: shared.duringCommand,
  }
}

/** The lead's tools with a shell of its own. A fork has the same list as its lead, because the list is part of the shared bytes. */
function toolsFor(order: AgentOrder, member: Member, sources: SourcesWithMemory): Toolset {
  const { teamTools, toolsFor: own, memory } = sources
  const replaced = new Map(own(member, order).map((tool) => [tool.name, tool]))
  const mayUse = allowedIn(order)
  const { definition } = order
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
        ({ type }) => order.kind === "fork" || type !== "agent_listing",
      )
      const later = forked.later && { later: laterFor(order, forked.later) }
      return { ...forked, tools: withMemory(tools, forked.tools), introductions, ...later }
    },
    *[Symbol.iterator]() {
      yield set
    },
  }
  return set
}

/** A definition that lists its tools expects no others. */
const laterFor = (order: AgentOrder, later: DeferredToolAccess): DeferredToolAccess => ({
  ...later,
  tools: () => later.tools().filter(({ name }) => allowedIn(order)(name)),
  isExpected: later.isExpected && (order.kind === "fork" || order.definition?.tools === undefined),
})

const allowedIn = ({ kind, definition }: AgentOrder): ((name: string) => boolean) =>
  kind === "fork" ? () => true : allowedBy(definition)

/** A tool with a pattern, such as `Bash(git:*)`, is not allowed: the agent would get more of it than the definition says. */
function allowedBy({ tools, disallowedTools = [] }: Partial<AgentDefinition> = {}): (name: string) => boolean {
  const allowed = tools && new Set(toolNames(tools, "tools").names)
  const refused = new Set(toolNames(disallowedTools, "disallowedTools").names)
  return (name) => (!allowed || allowed.has("*") || allowed.has(name)) && !refused.has(name)
}

type Ask = (question: () => Promise<PermissionAnswer>) => Promise<PermissionAnswer>

/** A question of a sub-agent goes to the person of its lead, and says who asks. */
function asking({ shared }: Agent, { name }: Member, ask: Ask): Pick<SingleAgentOptions, "askPermission"> {
  const { askPermission } = shared
  if (!askPermission) return {}
  return { askPermission: (request) => ask(async () => askPermission({ ...request, agent: name })) }
}

/** A person answers one question after the other, however many agents ask. No one waits for the question of an agent that has ended. */
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
