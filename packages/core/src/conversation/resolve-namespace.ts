/**
 * Resolves the namespace of a conversation. An id belongs to its owner: two owners may use the same one. A conversation that was stored
 * without an owner continues without one, and one that an earlier version stored under a path continues there.
 */
import { isSafeId } from "../base/clock.ts"
import { InvalidOptionError } from "../base/options.ts"
import { localUser, namespaceFor } from "../base/owner.ts"
import {
  claimNamespace,
  type OtherNames,
  otherNames,
  type ProjectInStore,
  projectNamespace,
  tracksDirectories,
} from "../journal/project-namespaces.ts"
import type { Store } from "../journal/store.ts"

export interface NamespaceQuery extends ProjectInStore {
  /** Id of the conversation. Absent for a new one. */
  readonly id?: string | undefined
}

/**
 * Finds the namespace. Throws if an owner requests a conversation that is stored without one, because continuing with an empty one would
 * look like data loss.
 */
export async function resolveConversationNamespace(whose: NamespaceQuery): Promise<string> {
  const { store, project, owner, id } = whose
  const own = projectNamespace(whose)
  if (id === undefined) return own
  const others = (one: NamespaceQuery["owner"]) => otherNames({ ...whose, owner: one })
  const isSimple = store.isShared || !tracksDirectories(project)
  if (owner === localUser && isSimple && isEmpty(await others(owner))) return own
  // without an owner, the local user's conversations can be opened too
  const owners: readonly NamespaceQuery["owner"][] = owner === undefined ? [localUser, undefined] : [owner]
  const kept = (places: readonly string[]) => namespacesWith(store, places, id)
  const [found] = await kept(owners.map((one) => namespaceFor(project.name, one)))
  if (found !== undefined) return found
  for (const one of owners) {
    const { claimed, free } = await others(one)
    const there = new Set(await kept([...claimed, ...free].map((name) => namespaceFor(name, one))))
    for (const name of [...claimed, ...free]) {
      const place = namespaceFor(name, one)
      if (!there.has(place)) continue
      if (claimed.includes(name) || (await claimNamespace(name, { ...whose, owner: one }))) return place
    }
  }
  if (typeof owner === "string") {
    const names = [project.name, ...(store.isShared ? [] : project.formerNames)]
    const places = names.flatMap((name) => [namespaceFor(name, localUser), namespaceFor(name, undefined)])
    if ((await kept(places)).length > 0) throw withoutThisOwner(id)
  }
  return own
}

const isEmpty = ({ claimed, free }: OtherNames): boolean => claimed.length + free.length === 0

/** The given namespaces that contain the conversation, in order. */
async function namespacesWith(store: Store, places: readonly string[], id: string): Promise<readonly string[]> {
  if (places.length === 0 || !isSafeId(id)) return [] // opening reports what is wrong with the id
  const has = await store.has(places.map((project) => ({ project, id })))
  return places.filter((_, at) => has[at])
}

const withoutThisOwner = (id: string) =>
  new InvalidOptionError(
    "memory",
    `Conversation ${id} was begun without this owner, so it was not opened. Nothing was changed. Leave out "memory" to continue it as it is, or choose another id.`,
  )
