/**
 * Which memory an agent has: one directory for each agent, scope and owner, in the format of the project's memory. A memory in the
 * repository is used only where a person trusts the project, because anyone can commit one.
 */
import { sep } from "node:path"
import { localPerson, type Owner, placeFor, placeOfAllProjects } from "../../base/owner.ts"
import { repositoryRoot } from "../../base/repository.ts"
import { memoryDirectoryOf } from "../../conversation/project-memory.ts"
import type { AgentMemoryPlace } from "../../journal/memory-files.ts"
import type { Store } from "../../journal/store.ts"
import { projectIdentity } from "../../memory/project-identity.ts"
import type { EffectiveSettings } from "../../settings/settings.ts"
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
  /** The home directory of the person. */
  readonly home?: string | undefined
  readonly settings: EffectiveSettings
}

export async function agentMemoryFor(
  { name, memory: scope }: Pick<AgentDefinition, "name" | "memory">,
  { store, owner, cwd, home, settings }: AgentMemoryGround,
): Promise<AgentMemoryChoice> {
  if (scope === undefined || settings.values.off || settings.values.memory === "off") return { state: "nothing" }
  if (!isAgentName(name)) return refused(name, `of its name: ${NAME_RULE}`)
  if (owner === undefined) return refused(name, "the conversation has no owner")
  if (owner !== localPerson) {
    // a repository and a home directory are shared by all owners, so it is kept with what else this one has
    const project = scope === "user" ? placeOfAllProjects(owner) : placeFor((await projectIdentity(cwd)).name, owner)
    return chosen(store, { agent: name, scope: "local", project })
  }
  if (scope === "user") return chosen(store, { agent: name, scope })
  if (scope === "local") return chosen(store, { agent: name, scope, project: (await projectIdentity(cwd)).name })
  if (settings.leftOut !== undefined)
    return refused(
      name,
      'it is kept in the repository, and this project is not trusted. "strata trust" shows what is there',
    )
  const project = repositoryRoot(cwd, { home })
  const choice = await chosen(store, { agent: name, scope, directory: project })
  const isInside = choice.directory?.startsWith(followed(project) + sep) ?? true
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
