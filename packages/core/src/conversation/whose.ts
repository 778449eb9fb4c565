/**
 * In which place of the store a conversation is. An id belongs to its owner: two owners may use the same one. A conversation that was kept
 * without an owner goes on without one.
 */
import { ConversationNotFoundError, InvalidIdError } from "../base/errors.ts"
import { InvalidOptionError } from "../base/options.ts"
import { type Owner, placeFor } from "../base/owner.ts"
import type { JournalAddress, Store } from "../journal/store.ts"

export interface Whose {
  readonly store: Store
  /** The name of the project. */
  readonly project: string
  readonly owner: Owner | undefined
  /** Absent: a new one. */
  readonly id?: string | undefined
}

/** Throws where an owner asks for a conversation that is kept without one: going on with an empty one would look like a loss. */
export async function placeOfConversation({ store, project, owner, id }: Whose): Promise<string> {
  const own = placeFor(project, owner)
  if (id === undefined || own === project) return own
  if (owner === undefined) return (await isKept(store, { project, id })) ? project : own
  for (const other of [project, placeFor(project, undefined)])
    if ((await isKept(store, { project: other, id })) && !(await isKept(store, { project: own, id })))
      throw withoutThisOwner(id)
  return own
}

async function isKept(store: Store, address: JournalAddress): Promise<boolean> {
  try {
    await (await store.open(address, { access: "read" })).close()
    return true
  } catch (error) {
    return !(error instanceof ConversationNotFoundError || error instanceof InvalidIdError)
  }
}

const withoutThisOwner = (id: string) =>
  new InvalidOptionError(
    "memory",
    `Conversation ${id} was begun without this owner, so it was not opened. Nothing was changed. Leave out "memory" to continue it as it is, or choose another id.`,
  )
