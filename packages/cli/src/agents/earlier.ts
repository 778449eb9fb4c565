/** Agents of earlier conversations of this project, from their journals. The newest come first. */
import { existsSync } from "node:fs"
import { type AgentView, agentsOf, type KeptConversation, strataDirectory } from "@strata/core"
import { journalDirectory } from "@strata/core/internal/journal/file/layout"
import type { Call } from "../command.ts"
import { conversationsIn } from "../kept-conversation.ts"

export const MOST_EARLIER = 10

export interface EarlierAgent {
  /** The conversation that it worked for. */
  readonly conversation: string
  readonly agent: AgentView
}

export interface EarlierOptions extends Pick<Call, "cwd" | "env"> {
  /** Its agents are listed elsewhere. */
  readonly without: string
  readonly all: boolean
}

export interface EarlierAgents {
  readonly agents: readonly EarlierAgent[]
  /** There may be more, in conversations that were not read. */
  readonly isCut: boolean
}

/** Without `all`, it stops reading when it has enough: a journal can be large. */
export async function earlierAgents({ cwd, env, without, all }: EarlierOptions): Promise<EarlierAgents> {
  const kept = await conversationsIn({ cwd, env, alsoUnowned: true })
  const others = kept.filter((conversation) => conversation.id !== without && hasAgents(conversation, env))
  const agents: EarlierAgent[] = []
  for (const conversation of others) {
    if (!all && agents.length >= MOST_EARLIER) return { agents: agents.slice(0, MOST_EARLIER), isCut: true }
    const found = await (await agentsOf(conversation, { env })).list()
    agents.push(...found.toReversed().map((agent) => ({ conversation: conversation.id, agent })))
  }
  return all ? { agents, isCut: false } : { agents: agents.slice(0, MOST_EARLIER), isCut: agents.length > MOST_EARLIER }
}

/** Each agent has a journal of its own in a folder of the conversation's. */
function hasAgents({ address: { project, id } }: KeptConversation, env: Call["env"]): boolean {
  return existsSync(journalDirectory(strataDirectory(env), { project, under: id }))
}
