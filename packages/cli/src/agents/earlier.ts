/** Agents of earlier conversations of this project, from their journals. The newest come first. */
import { type AgentView, openAgentDirectory } from "@strata/core/agent"
import type { CommandCall } from "../command.ts"
import { conversationsIn } from "../stored-conversation.ts"

const MAX_EARLIER = 10

export interface EarlierAgent {
  /** The conversation that it worked for. */
  readonly conversation: string
  readonly agent: AgentView
}

export interface EarlierAgentsOptions extends Pick<CommandCall, "cwd" | "env"> {
  /** Id of the conversation to skip, because its agents are already listed. */
  readonly without: string
  readonly all: boolean
}

export interface EarlierAgents {
  readonly agents: readonly EarlierAgent[]
  /** True if conversations that were not read may contain more agents. */
  readonly isCut: boolean
}

/** Without `all`, reading stops as soon as there are enough agents: a journal can be large. */
export async function listEarlierAgents({ cwd, env, without, all }: EarlierAgentsOptions): Promise<EarlierAgents> {
  const kept = await conversationsIn({ cwd, env, alsoUnowned: true })
  const agents: EarlierAgent[] = []
  for (const conversation of kept.filter(({ id }) => id !== without)) {
    const place = await openAgentDirectory(conversation, { env })
    if (!(await place.hasAny())) continue
    if (!all && agents.length >= MAX_EARLIER) return { agents: agents.slice(0, MAX_EARLIER), isCut: true }
    const found = await place.list()
    agents.push(...found.toReversed().map((agent) => ({ conversation: conversation.id, agent })))
  }
  return all ? { agents, isCut: false } : { agents: agents.slice(0, MAX_EARLIER), isCut: agents.length > MAX_EARLIER }
}
