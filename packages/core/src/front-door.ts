/** The functions of the package's root. What they need is loaded when they are called, so importing the package costs little. */
import type { Agent } from "./agent/agent.ts"
import { checkedId } from "./base/ids.ts"
import type { Conversation } from "./conversation/conversation.ts"
import type { KeptConversation, ListOptions } from "./conversation/list.ts"
import type { ConversationOptions } from "./conversation/options.ts"
import type { ImportOptions, ImportOutcome } from "./import/import-conversations.ts"
import type { Store } from "./journal/store.ts"
import type { AgentDefinition } from "./team/definitions/definition.ts"
import type { TeamAgent, TeamAgentOptions } from "./team/open-team.ts"

/**
 * Opens a conversation for your own loop: a new one, or one that was kept. All layers act in it.
 *
 * @example
 * await using chat = await openConversation({ model: "claude-opus-5-5", client, system, tools })
 * await chat.add("Fix the failing test")
 * const response = await client.messages.stream(await chat.prepare()).finalMessage()
 * await chat.record(response)
 */
export async function openConversation(options: ConversationOptions): Promise<Conversation> {
  const { openConversation: open } = await import("./conversation/open.ts")
  return open(options)
}

/**
 * Opens an agent that runs the loop for you: it asks the model, runs tools with permission, and keeps the conversation.
 *
 * @example
 * await using agent = await openAgent({ model: "claude-opus-5-5", tools: codingTools() })
 * const { text, cost } = await agent.ask("Fix the failing test")
 */
export async function openAgent(
  options: TeamAgentOptions & { readonly agents: true | readonly AgentDefinition[] },
): Promise<TeamAgent>
export async function openAgent(options: TeamAgentOptions): Promise<Agent>
export async function openAgent({ agents = false, ...options }: TeamAgentOptions): Promise<Agent> {
  if (agents === false) {
    const { openAgent: open } = await import("./agent/open-agent.ts")
    return open(options)
  }
  const { openTeamAgent } = await import("./team/open-team.ts")
  return openTeamAgent({ ...options, agents })
}

/** Imports every conversation in another program's transcript. A file imported before is refused: its conversations are there already. */
export async function importConversations(options: ImportOptions): Promise<readonly ImportOutcome[]> {
  const { importConversations: read } = await import("./import/import-conversations.ts")
  return read(options)
}

/** The conversations kept for a project, newest first. Pass an `id` to `openConversation` or `openAgent` to continue one. */
export async function listConversations(options: ListOptions = {}): Promise<readonly KeptConversation[]> {
  const { listConversations: list } = await import("./conversation/list.ts")
  return list(options)
}

/** A store in memory, for tests and experiments: `openConversation({ model, store: memoryStore() })`. */
export function memoryStore(): Store {
  let pending: Promise<Store> | undefined
  const load = () => {
    pending ??= import("./journal/in-memory/store.ts").then(({ memoryStore: create }) => create())
    return pending
  }
  return {
    description: "memory",
    open: async (address, options) => (await load()).open(address, options),
    list: async (project, options) => (await load()).list(project, options),
    memories(place) {
      const files = async () => (await load()).memories!(place)
      return {
        location: "memory",
        list: async (under) => (await files()).list(under),
        read: async (path) => (await files()).read(path),
        install: async (changes, options) => (await files()).install(changes, options),
        problems: async () => (await (await files()).problems?.()) ?? [],
      }
    },
    mailboxes(team) {
      checkedId("team name", team.team)
      const mailbox = async () => (await load()).mailboxes!(team)
      return {
        location: "memory",
        send: async (draft, limits) => (await mailbox()).send(draft, limits),
        last: async (from) => (await mailbox()).last(from),
        read: async (after, member) => (await mailbox()).read(after, member),
        arrival: async (after, signal) => (await mailbox()).arrival(after, signal),
        join: async (member) => (await mailbox()).join(member),
        members: async () => (await mailbox()).members(),
        change: async (signal) => (await mailbox()).change(signal),
        close: async () => (await mailbox()).close(),
      }
    },
  }
}
