/** The agents of one conversation of this project, with what they do now. Opens it for reading only, so it may be in use. */
import { realpath } from "node:fs/promises"
import type { AgentView, KeptAgents } from "@strata/core/agent"
import { agentsOf } from "@strata/core/agent"
import { type Call, UsageError } from "../command.ts"
import { findById } from "../conversation-names.ts"
import { conversationsIn, nearestFirst } from "../kept-conversation.ts"
import { activityIn } from "./activity.ts"

export interface AgentsPlaceOptions extends Pick<Call, "cwd" | "env"> {
  /** The start of a conversation's id. Default: the newest of this directory, else of the project. */
  readonly id?: string | undefined
  /** Prefers the newest conversation that is open. */
  readonly open?: boolean
}

export async function openAgentsPlace({ cwd, env, id, open = false }: AgentsPlaceOptions): Promise<KeptAgents> {
  const begun = nearestFirst(await conversationsIn({ cwd, env, alsoUnowned: true }), await realpath(cwd))
  if (begun.length === 0) throw new UsageError("This project has no conversation yet, so it has no agents.")
  if (id !== undefined) return agentsOf(findById(id, begun), { env })
  if (open)
    for (const one of begun) {
      const agents = await agentsOf(one, { env })
      if (await agents.isOpen()) return agents
    }
  return agentsOf(begun[0]!, { env })
}

/** With what each agent that runs does now, from its own journal. */
export async function agentsNow(agents: KeptAgents): Promise<readonly AgentView[]> {
  return Promise.all(
    (await agents.list()).map(async (agent) => {
      if (agent.status !== "running") return agent
      const progress = await activityIn(agents.newestEntries(agent.id)).catch(() => undefined)
      return progress === undefined ? agent : { ...agent, progress }
    }),
  )
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
