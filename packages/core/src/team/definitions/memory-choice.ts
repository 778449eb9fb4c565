/**
 * Which memory an agent has: one directory for each agent, scope and owner, in the format of the project's memory. A memory in the
 * repository is used only where a person trusts the project, because anyone can commit one.
 */
import { sep } from "node:path"
import type { SingleAgentOptions } from "../../agent/options.ts"
import { systemClock } from "../../base/clock.ts"
import { repositoryRoot } from "../../base/git.ts"
import { localUser, type Owner, placeOfAllProjects } from "../../base/owner.ts"
import type { Project } from "../../base/project.ts"
import { memoryDirectoryOf } from "../../conversation/project-memory.ts"
import { agentMemoryPlace } from "../../conversation/settle-project.ts"
import { strataDirectory } from "../../journal/file/layout.ts"
import type { AgentMemoryPlace } from "../../journal/memory-files.ts"
import type { Store } from "../../journal/store.ts"
import { whichProject } from "../../journal/which-project.ts"
import type { EffectiveSettings, Settings } from "../../settings/settings.ts"
import { followed } from "../../settings/trust.ts"
import { type AgentDefinition, isAgentName, NAME_RULE } from "./definition.ts"

/** Nothing: the definition asks for no memory, or memory is off. */
export type AgentMemoryChoice =
  | { readonly state: "nothing" }
  | { readonly state: "place"; readonly place: AgentMemoryPlace; readonly directory?: string }
  | { readonly state: "refused"; readonly why: string }

export interface AgentMemoryGround {
  readonly store: Store
  /** Of the conversation that starts the agent. */
  readonly owner: Owner | undefined
  /** The directory of the conversation that starts the agent, also if the agent works in another worktree. */
  readonly cwd: string
  /** Asked only where an agent's memory is the project's. */
  readonly project: () => Promise<Project>
  /** The home directory of the person. */
  readonly home?: string | undefined
  readonly settings: EffectiveSettings
}

export async function agentMemoryFor(
  { name, memory: scope }: Pick<AgentDefinition, "name" | "memory">,
  { store, owner, cwd, project, home, settings }: AgentMemoryGround,
): Promise<AgentMemoryChoice> {
  if (scope === undefined || settings.values.off || settings.values.memory === "off") return { state: "nothing" }
  if (!isAgentName(name)) return refused(name, `of its name: ${NAME_RULE}`)
  if (owner === undefined) return refused(name, "the conversation has no owner")
  const ofProject = async () => {
    const isReadOnly = settings.values.memory === "read-only"
    return agentMemoryPlace(name, { store, owner, project: await project(), clock: systemClock, isReadOnly })
  }
  if (owner !== localUser) {
    // a repository and a home directory are shared by all owners, so it is kept with what else this one has
    if (scope === "user") return chosen(store, { agent: name, scope: "local", project: placeOfAllProjects(owner) })
    return chosen(store, await ofProject())
  }
  if (scope === "user") return chosen(store, { agent: name, scope })
  if (scope === "local") return chosen(store, await ofProject())
  if (settings.leftOut !== undefined)
    return refused(
      name,
      'it is kept in the repository, and this project is not trusted. "strata trust" shows what is there',
    )
  const repository = repositoryRoot(cwd, { home })
  const choice = await chosen(store, { agent: name, scope, directory: repository })
  const isInside = choice.directory?.startsWith(followed(repository) + sep) ?? true
  return isInside ? choice : refused(name, "its directory leads out of the repository")
}

async function chosen(store: Store, place: AgentMemoryPlace): Promise<Extract<AgentMemoryChoice, { state: "place" }>> {
  const directory = await memoryDirectoryOf(store, place)
  return { state: "place", place, ...(directory === undefined ? {} : { directory }) }
}

const refused = (name: string, why: string): AgentMemoryChoice => ({
  state: "refused",
  why: `The agent ${JSON.stringify(name.slice(0, 80))} works without its memory, because ${why}.`,
})

/** The project that an agent's options name. */
export const projectOf = (
  { cwd = process.cwd(), env = process.env, dir, project, store }: SingleAgentOptions,
  settings: Settings,
) => whichProject({ cwd, env, root: dir ?? strataDirectory(env), project, settings, ...(store ? { store } : {}) })
