/** The agents of one conversation of this project, as its journal has them. Opens it for reading only, so it may be in use. */
import { realpath } from "node:fs/promises"
import type { AgentView, ConversationListing, Store } from "@strata/core/internal"
import { projectName } from "@strata/core/internal/base/ids"
import { fileStore } from "@strata/core/internal/journal/file/file-store"
import { defaultRoot, journalPaths } from "@strata/core/internal/journal/file/layout"
import { holderOf } from "@strata/core/internal/journal/file/lock"
import { listOpenable, type OpenableListing } from "@strata/core/internal/journal/openable"
import { agentView } from "@strata/core/internal/team/agent-view"
import { findModel } from "@strata/core/internal/tokens/models"
import { loadViews } from "@strata/core/internal/views/load"
import { type Call, UsageError } from "../command.ts"
import { findById } from "../conversation-names.ts"
import { activityIn, type Journal } from "./activity.ts"

export interface AgentsPlace {
  readonly root: string
  readonly store: Store
  readonly project: string
  readonly conversation: ConversationListing
  /** Whether a process has the conversation open. */
  readonly isOpen: boolean
}

export interface AgentsPlaceOptions extends Pick<Call, "cwd" | "env"> {
  /** The start of a conversation's id. Default: the newest. */
  readonly id?: string | undefined
  /** Prefers the newest conversation that is open. */
  readonly open?: boolean
}

export async function openAgentsPlace({ cwd, env, id, open = false }: AgentsPlaceOptions): Promise<AgentsPlace> {
  const root = defaultRoot(env)
  const store = fileStore({ root })
  const all = await listOpenable(store, projectName(await realpath(cwd)))
  const begun = all.filter(({ facts, firstWords }) => facts !== undefined || firstWords !== undefined)
  if (begun.length === 0) throw new UsageError("This project has no conversation yet, so it has no agents.")
  const isOpen = ({ id: one, place: project }: OpenableListing) => isInUse(root, { project, id: one })
  if (id !== undefined) return placeOf(findById(id, begun))
  if (open) for (const one of begun) if (await isOpen(one)) return placeOf(one)
  return placeOf(begun[0]!)

  async function placeOf(conversation: OpenableListing): Promise<AgentsPlace> {
    return { root, store, project: conversation.place, conversation, isOpen: await isOpen(conversation) }
  }
}

export async function isInUse(root: string, address: { readonly project: string; readonly id: string }) {
  const holder = await holderOf(journalPaths(root, address).lock)
  return holder !== undefined && holder.verdict !== "dead"
}

const PROGRAM_ENDED = "The program ended while it was working."

/** In the order they were started. One that ran when its program ended is stopped, even if the journal does not say so yet. */
export async function agentsIn({ store, project, conversation, isOpen }: AgentsPlace): Promise<readonly AgentView[]> {
  const journal = await store.open({ project, id: conversation.id }, { access: "read" })
  try {
    const { family } = findModel(conversation.facts?.model ?? "unknown").facts
    const { views } = await loadViews(journal, { family })
    const lead = { location: journal.location, views }
    return [...views.agents.roster.values()].map((record) => {
      const view = agentView({ record, live: undefined, lead })
      return view.status === "running" && !isOpen ? { ...view, status: "killed", summary: PROGRAM_ENDED } : view
    })
  } finally {
    await journal.close()
  }
}

/** With what each agent that runs does now, from its own journal. */
export async function agentsNow(place: AgentsPlace): Promise<readonly AgentView[]> {
  return Promise.all(
    (await agentsIn(place)).map(async (agent) => {
      if (agent.status !== "running") return agent
      const progress = await withAgentJournal(place, agent.id, activityIn).catch(() => undefined)
      return progress === undefined ? agent : { ...agent, progress }
    }),
  )
}

export async function withAgentJournal<T>(
  { store, project, conversation }: AgentsPlace,
  agent: string,
  read: (journal: Journal) => Promise<T>,
): Promise<T> {
  const journal = await store.open({ project, under: conversation.id, id: agent }, { access: "read" })
  try {
    return await read(journal)
  } finally {
    await journal.close()
  }
}

/** By id or name. Of two with one name, the newer. */
export function namedAgent(agents: readonly AgentView[], nameOrId: string): AgentView {
  const found = agents.findLast(({ id, name }) => id === nameOrId || name === nameOrId)
  if (found) return found
  const known = agents.map(({ id, name }) => (name === id ? id : `${id} (${name})`)).join(", ")
  throw new UsageError(
    known === ""
      ? `This conversation has started no agents, so it has no "${nameOrId}".`
      : `There is no agent "${nameOrId}" in this conversation. It has ${known}.`,
  )
}
