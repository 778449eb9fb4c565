/** Where an agent with isolation works, and what its lead gets to know about it at the end. */
import type { Agent } from "../agent/agent.ts"
import type { SingleAgentOptions } from "../agent/options.ts"
import { messageOf } from "../base/errors.ts"
import { strataDirectory } from "../journal/file/layout.ts"
import type { FindWorktree } from "./changes-tool.ts"
import type { AgentView } from "./order.ts"
import type { AgentOutcome } from "./sub-agent.ts"
import { Worktree, type WorktreePlace } from "./worktree.ts"

export interface Worker {
  readonly id: string
  readonly lead: Agent
}

export const isolate = (worker: Worker, options: SingleAgentOptions): Promise<Worktree> =>
  Worktree.create(placeOf(worker, options))

function placeOf({ id, lead }: Worker, { env = process.env, dir }: SingleAgentOptions): WorktreePlace {
  const { conversation, shared } = lead
  const { project: cwd } = shared.state.policy
  const { id: leadId, place: project } = conversation
  return { cwd, root: dir ?? strataDirectory(env), project, conversation: leadId, agent: id, env }
}

interface Workers {
  readonly leader: Agent
  view(nameOrId: string): AgentView | undefined
}

/** Finds the working trees of a team's agents, those of earlier processes too. */
export const worktreesOf =
  (team: Workers, options: SingleAgentOptions): FindWorktree =>
  async (agent) => {
    const view = team.view(agent)
    const worktree = view && (await Worktree.find(placeOf({ id: view.id, lead: team.leader }, options)))
    if (!worktree) return undefined
    return { worktree, agent: view.status === "running" || view.status === "idle" ? view.status : "ended" }
  }

/** Adds what the agent changed. A working tree without changes is of no use any more. */
export async function withChanges(outcome: AgentOutcome, worktree: Worktree, name: string): Promise<AgentOutcome> {
  const note = await changesIn(worktree, name).catch(
    (error: unknown) => `${messageOf(error)} Its files are in ${worktree.directory}.`,
  )
  return { ...outcome, text: `${outcome.text}\n\n${note}` }
}

async function changesIn(worktree: Worktree, name: string): Promise<string> {
  const { files } = await worktree.changes()
  if (files.length > 0)
    return `In its own working tree it changed: ${files.join(", ")}. Nothing of it is in the project yet: look at it with AgentChanges (agent ${name}), then merge or drop it.`
  await worktree.drop()
  return "It changed no files."
}
