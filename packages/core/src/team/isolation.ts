/** Working trees of isolated agents, and the report about their changes for the lead. */
import type { Agent } from "../agent/agent.ts"
import type { SingleAgentOptions } from "../agent/options.ts"
import { errorMessage } from "../base/errors.ts"
import { engineOf } from "../conversation/conversation.ts"
import { strataDirectory } from "../journal/file/layout.ts"
import type { AgentView } from "./agent-task.ts"
import type { FindWorktree } from "./changes-tool.ts"
import type { AgentOutcome } from "./sub-agent.ts"
import { Worktree, type WorktreeLocation } from "./worktree.ts"

export interface IsolatedAgent {
  readonly id: string
  readonly lead: Agent
}

export const isolate = (worker: IsolatedAgent, options: SingleAgentOptions): Promise<Worktree> =>
  Worktree.create(worktreeLocation(worker, options))

function worktreeLocation(
  { id, lead }: IsolatedAgent,
  { env = process.env, dir }: SingleAgentOptions,
): WorktreeLocation {
  const { conversation, shared } = lead
  const { project: cwd } = shared.state.policy
  const { namespace: project } = engineOf(conversation)
  return { cwd, root: dir ?? strataDirectory(env), project, conversation: conversation.id, agent: id, env }
}

interface AgentLookup {
  readonly leader: Agent
  view(nameOrId: string): AgentView | undefined
}

/** Finds the working trees of a team's agents, including agents of earlier processes. */
export const worktreeFinder =
  (team: AgentLookup, options: SingleAgentOptions): FindWorktree =>
  async (agent) => {
    const view = team.view(agent)
    const worktree = view && (await Worktree.find(worktreeLocation({ id: view.id, lead: team.leader }, options)))
    if (!worktree) return undefined
    return { worktree, agent: view.status === "running" || view.status === "idle" ? view.status : "ended" }
  }

/** Appends the list of changed files to the result. A working tree without changes is removed. */
export async function withChanges(outcome: AgentOutcome, worktree: Worktree, name: string): Promise<AgentOutcome> {
  const note = await describeChanges(worktree, name).catch(
    (error: unknown) => `${errorMessage(error)} Its files are in ${worktree.directory}.`,
  )
  return { ...outcome, text: `${outcome.text}\n\n${note}` }
}

async function describeChanges(worktree: Worktree, name: string): Promise<string> {
  const { files } = await worktree.changes()
  if (files.length > 0)
    return `In its own working tree it changed: ${files.join(", ")}. Nothing of it is in the project yet: look at it with AgentChanges (agent ${name}), then merge or drop it.`
  await worktree.drop()
  return "It changed no files."
}
