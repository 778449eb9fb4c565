/** For the person, at the opening: what an agent does not remember, and whose memories its tools can reach. */
import type { Tool } from "../tools/tool.ts"
import type { Ground } from "./ground.ts"
import { isInside } from "./permissions/permissions.ts"

export function memoryProblems(ground: Ground, tools: readonly Tool[]): readonly string[] {
  return [...unremembered(ground), ...withinReach(ground, tools)]
}

/** A person who asked for a memory in so many words must know that nothing is kept. */
function unremembered({ store, loaded, settings, owner }: Ground): readonly string[] {
  const isWanted = "memory" in loaded.origins && settings.memory !== "off" && !settings.off
  if (!isWanted) return []
  if (owner === undefined) return [NO_OWNER]
  if (store.memories) return []
  return [`Nothing is remembered across conversations: the store (${store.description}) keeps no memories.`]
}

const NO_OWNER =
  'Nothing is remembered across conversations: this one has no owner. Give the option "memory" one, such as { owner: userId }.'

const SEARCHING = new Set(["Read", "Grep", "Glob", "Bash"])

/** Who searches the project would search the store too. */
function withinReach({ owner, root, cwd }: Ground, tools: readonly Tool[]): readonly string[] {
  if (typeof owner !== "string" || !isInside(root, cwd) || !tools.some(({ name }) => SEARCHING.has(name))) return []
  return [
    `The tools of this agent can read what other owners keep: the option "dir" (${root}) is inside the project. Choose a directory outside it.`,
  ]
}
