/**
 * Chooses the memory directory of an agent: one for each agent, scope and owner, in the format of the project's memory. A memory in the
 * repository is used only if the user trusts the project, because anyone can commit one.
 */
import { sep } from "node:path"
import type { SingleAgentOptions } from "../../agent/options.ts"
import { systemClock } from "../../base/clock.ts"
import { repositoryRoot } from "../../base/git.ts"
import { globalNamespace, localUser, type Owner } from "../../base/owner.ts"
import type { Project } from "../../base/project.ts"
import { agentMemoryNamespace } from "../../conversation/migrate-project.ts"
import { memoryDirectoryOf } from "../../conversation/project-memory.ts"
import { strataDirectory } from "../../journal/file/layout.ts"
import type { AgentMemoryNamespace } from "../../journal/memory-files.ts"
import { resolveProject } from "../../journal/resolve-project.ts"
import type { Store } from "../../journal/store.ts"
import type { EffectiveSettings, Settings } from "../../settings/settings.ts"
import { resolveLinks } from "../../settings/trust.ts"
import { type AgentDefinition, isAgentName, NAME_RULE } from "./definition.ts"

/** `nothing`: the definition requests no memory, or memory is off. */
export type AgentMemoryChoice =
  | { readonly state: "nothing" }
  | { readonly state: "place"; readonly place: AgentMemoryNamespace; readonly directory?: string }
  | { readonly state: "refused"; readonly reason: string }

export interface AgentMemoryDependencies {
  readonly store: Store
  /** Owner of the conversation that starts the agent. */
  readonly owner: Owner | undefined
  /** Working directory of the conversation that starts the agent, even if the agent works in another working tree. */
  readonly cwd: string
  /** Called only if the memory belongs to the project. */
  readonly project: () => Promise<Project>
  /** Home directory of the user. */
  readonly home?: string | undefined
  readonly settings: EffectiveSettings
}

export async function agentMemoryFor(
  { name, memory: scope }: Pick<AgentDefinition, "name" | "memory">,
  { store, owner, cwd, project, home, settings }: AgentMemoryDependencies,
): Promise<AgentMemoryChoice> {
  if (scope === undefined || settings.values.off || settings.values.memory === "off") return { state: "nothing" }
  if (!isAgentName(name)) return refused(name, `of its name: ${NAME_RULE}`)
  if (owner === undefined) return refused(name, "the conversation has no owner")
  const ofProject = async () => {
    const isReadOnly = settings.values.memory === "read-only"
    return agentMemoryNamespace(name, { store, owner, project: await project(), clock: systemClock, isReadOnly })
  }
  if (owner !== localUser) {
    // a repository and a home directory are shared by all owners, so the memory is stored in this owner's namespace
    if (scope === "user")
      return chooseDirectory(store, { agent: name, scope: "local", project: globalNamespace(owner) })
    return chooseDirectory(store, await ofProject())
  }
  if (scope === "user") return chooseDirectory(store, { agent: name, scope })
  if (scope === "local") return chooseDirectory(store, await ofProject())
  if (settings.untrusted !== undefined)
    return refused(
      name,
      'it is kept in the repository, and this project is not trusted. "strata trust" shows what is there',
    )
  const repository = repositoryRoot(cwd, { home })
  const choice = await chooseDirectory(store, { agent: name, scope, directory: repository })
  const isInside = choice.directory?.startsWith(resolveLinks(repository) + sep) ?? true
  return isInside ? choice : refused(name, "its directory leads out of the repository")
}

async function chooseDirectory(
  store: Store,
  place: AgentMemoryNamespace,
): Promise<Extract<AgentMemoryChoice, { state: "place" }>> {
  const directory = await memoryDirectoryOf(store, place)
  return { state: "place", place, ...(directory === undefined ? {} : { directory }) }
}

const refused = (name: string, why: string): AgentMemoryChoice => ({
  state: "refused",
  reason: `The agent ${JSON.stringify(name.slice(0, 80))} works without its memory, because ${why}.`,
})

/** Resolves the project that an agent's options name. */
export const projectOf = (
  { cwd = process.cwd(), env = process.env, dir, project, store }: SingleAgentOptions,
  settings: Settings,
) => resolveProject({ cwd, env, root: dir ?? strataDirectory(env), project, settings, ...(store ? { store } : {}) })
