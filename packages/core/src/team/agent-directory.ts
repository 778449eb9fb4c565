/** The agents of a stored conversation, read from its journals. Never writes, so another process may have the conversation open. */
import { systemClock } from "../base/clock.ts"
import { errorMessage } from "../base/errors.ts"
import { resolveStoreLocation, type StoredConversation, type StoreLocation } from "../conversation/list.ts"
import type { Entry } from "../journal/entries.ts"
import type { SentRequest } from "../journal/in-flight.ts"
import { newestFirst } from "../journal/newest-first.ts"
import type { Journal } from "../journal/store.ts"
import { isText, textOf } from "../messages/blocks.ts"
import { contentOf, isRequest } from "../messages/messages.ts"
import { findModel } from "../tokens/models.ts"
import { loadViews } from "../views/load.ts"
import type { AgentView } from "./agent-task.ts"
import { agentView } from "./agent-view.ts"
import { lastTextIn } from "./result.ts"
import { findSocket, type SocketReply, sendToSocket } from "./socket.ts"

/** An agent's task, and the last text that it wrote. */
export interface AgentTexts {
  readonly task?: string
  readonly result?: string
}

/** The agents of one conversation, seen from a process that may not be running it. */
export interface AgentDirectory {
  readonly conversation: StoredConversation
  /** Whether a process has the conversation open. */
  isOpen(): Promise<boolean>
  /** Whether any agent of the conversation has a journal. Does not read the journals. */
  hasAny(): Promise<boolean>
  /** The agents in the order they were started. An agent that was running when its process ended is reported as stopped. */
  list(): Promise<readonly AgentView[]>
  texts(agent: string): Promise<AgentTexts>
  /** The entries of an agent's journal, oldest first. */
  entries(agent: string): AsyncIterable<Entry>
  /** The entries of an agent's journal, newest first. Reads only as far as the caller iterates. */
  newestEntries(agent: string): AsyncIterable<Entry>
  /** Requests of the conversation itself that have no response yet. Empty if no process has it open. */
  inFlight(): Promise<readonly SentRequest[]>
  /** Sends a message to an agent of the open conversation, by its name. */
  send(message: { readonly from: string; readonly to: string; readonly text: string }): Promise<SocketReply>
  /** Asks the open conversation to stop an agent. */
  stop(agent: string, options: { readonly from: string }): Promise<SocketReply>
}

const PROGRAM_ENDED = "The program ended while it was working."

export function openAgentDirectory(conversation: StoredConversation, where: StoreLocation = {}): AgentDirectory {
  const { root, store } = resolveStoreLocation(where)
  const { address, model = "unknown" } = conversation

  const isOpen = async () => (await store.writerOf(address)) !== undefined

  const open = (agent: string) =>
    store.open({ project: address.project, under: address.id, id: agent }, { access: "read" })

  async function* readJournal(agent: string, read: (journal: Journal) => AsyncIterable<Entry>): AsyncGenerator<Entry> {
    const journal = await open(agent)
    try {
      yield* read(journal)
    } finally {
      await journal.close()
    }
  }

  /** Sends a message through the socket of the process that has the conversation open. */
  async function deliver(from: string, content: Readonly<Record<string, unknown>>): Promise<SocketReply> {
    try {
      const socket = await findSocket(root, { conversation: address.id })
      return await sendToSocket(socket, { from, content }, systemClock)
    } catch (error) {
      return { accepted: false, why: errorMessage(error) }
    }
  }

  return {
    conversation,
    isOpen,
    hasAny: async () => (await store.list(address.project, { under: address.id, isBare: true })).length > 0,
    async list() {
      const isRunning = await isOpen()
      const journal = await store.open(address, { access: "read" })
      try {
        const { views } = await loadViews(journal, { family: findModel(model).facts.family })
        const lead = { location: journal.location, views }
        return [...views.agents.roster.values()].map((record) => {
          const view = agentView({ record, live: undefined, lead })
          return view.status === "running" && !isRunning ? { ...view, status: "killed", summary: PROGRAM_ENDED } : view
        })
      } finally {
        await journal.close()
      }
    },
    async texts(agent) {
      const journal = await open(agent)
      try {
        const [task, result] = [await findTask(journal.entries()), await lastTextIn(journal)]
        return { ...(task === undefined ? {} : { task }), ...(result === "" ? {} : { result }) }
      } finally {
        await journal.close()
      }
    },
    entries: (agent) => readJournal(agent, (journal) => journal.entries()),
    newestEntries: (agent) => readJournal(agent, newestFirst),
    async inFlight() {
      if (!(await isOpen())) return []
      const journal = await store.open(address, { access: "read" })
      try {
        return journal.inFlight?.unsettled() ?? []
      } finally {
        await journal.close()
      }
    },
    send: ({ from, to, text }) => deliver(from, { to, text, hops: 1 }),
    stop: (agent, { from }) => deliver(from, { control: "stop", agent }),
  }
}

/** Finds the task. A fork's journal begins with its lead's messages, which are not its task. */
async function findTask(entries: AsyncIterable<Entry>): Promise<string | undefined> {
  let first: string | undefined
  for await (const entry of entries) {
    if (entry.type !== "user" || !isRequest(entry)) continue
    const task = textOf(contentOf(entry).filter(isText))
    if (entry.isFromAgent) return task
    first ??= task
  }
  return first
}
