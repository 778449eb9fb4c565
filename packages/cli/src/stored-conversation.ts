/** Lists and finds the stored conversations of a project, and opens one to change its context. This needs no model and no key. */
import { realpath } from "node:fs/promises"
import { sep } from "node:path"
import {
  type Conversation,
  listConversations,
  localUser,
  type Owner,
  openConversation,
  type StoredConversation,
  strataDirectory,
} from "@strata/core"
import { isNamespaceOf } from "@strata/core/base"
import { resolveProjectAt } from "@strata/core/projects"
import { listProjectNamespaces, storeFrom } from "@strata/core/store"
import { type CommandCall, UsageError } from "./command.ts"
import { findById } from "./conversation-names.ts"
import { modelFrom } from "./session-options.ts"

export interface StoredConversationsOptions extends Pick<CommandCall, "cwd" | "env"> {
  /** Includes conversations that a program stored without an owner. They are opened only by id. */
  readonly alsoUnowned?: boolean
  /** Name of the owner, as a program passed it in the option `memory`. Only this owner's conversations. Default: the user. */
  readonly owner?: string | undefined
}

/** Conversations of the user or of an owner, newest first. */
export async function conversationsIn(options: StoredConversationsOptions): Promise<readonly StoredConversation[]> {
  const { cwd, env, owner, alsoUnowned = false } = options
  const place = { cwd: await realpath(cwd), env }
  return listConversations(owner === undefined ? { ...place, owner: localUser, alsoUnowned } : { ...place, owner })
}

/** Which conversation a command is about. */
export interface ConversationChoice extends StoredConversationsOptions {
  /** The id or its prefix. Default: the newest conversation of this directory, else of the project. */
  readonly id?: string | undefined
  /** Follows "This project has no conversation yet" in the error message. */
  readonly consequence?: string
}

/** The chosen conversation. If it does not exist, the error says whether this project has conversations of other owners. */
export async function chooseConversation(choice: ConversationChoice): Promise<StoredConversation> {
  const { id, ...place } = choice
  const all = await conversationsIn(place)
  const found = id === undefined ? nearestFirst(all, await realpath(place.cwd))[0] : findById(id, all)
  if (found) return found
  throw await missingConversation({ ...choice, isEmpty: all.length === 0 })
}

/** `isEmpty`: there is no conversation at all. */
type MissingConversation = ConversationChoice & { readonly isEmpty: boolean }

export async function missingConversation(missing: MissingConversation): Promise<UsageError> {
  const others = await otherOwners(missing)
  const problem = describeMissing(missing)
  return new UsageError(others === undefined ? problem : `${problem} ${others}`)
}

function describeMissing({ id, owner, consequence = ".", isEmpty }: MissingConversation): string {
  if (owner !== undefined)
    return isEmpty
      ? "This owner has no conversation in this project. Names are compared exactly."
      : `This owner has no conversation ${id} in this project.`
  return isEmpty
    ? `This project has no conversation yet${consequence}`
    : `There is no conversation ${id} in this project. "strata chat --resume" lists them.`
}

/**
 * A sentence about conversations of this project that belong to other owners. It names no owner, because only hashes of them are stored.
 * Nothing of the conversations is read.
 */
export async function otherOwners(place: StoredConversationsOptions): Promise<string | undefined> {
  const { env, owner } = place
  const cwd = await realpath(place.cwd)
  const store = storeFrom({ dir: strataDirectory(env), env })
  const project = await resolveProjectAt({ cwd, env, store })
  const namespacesOf = (one: Owner | undefined) => listProjectNamespaces({ store, project, owner: one })
  const names = await namespacesOf(localUser)
  const known = new Set([...names, ...(await namespacesOf(undefined)), ...(await namespacesOf(owner))])
  const others = (await store.projects()).filter(
    (namespace) => !known.has(namespace) && names.some((name) => isNamespaceOf(name, namespace)),
  )
  const counts = await Promise.all(others.map(async (one) => (await store.list(one, { isBare: true })).length))
  const count = counts.reduce((sum, one) => sum + one, 0)
  if (count === 0) return undefined
  const belong =
    count === 1 ? "1 conversation belongs to another owner" : `${count} conversations belong to other owners`
  return `${belong}: strata dashboard --owner NAME shows what NAME has.`
}

/**
 * Sorts conversations by directory: this one first, then its parents and children, then others, each by recency. Two clones of a repository
 * share a project, and a command in one clone is about that clone.
 */
export function nearestFirst(conversations: readonly StoredConversation[], cwd: string): readonly StoredConversation[] {
  const distance = ({ directory }: StoredConversation) => {
    if (directory === undefined || directory === cwd) return directory === cwd ? 0 : 3
    if (isInside(cwd, directory)) return 1
    return isInside(directory, cwd) ? 2 : 3
  }
  return conversations.toSorted((a, b) => distance(a) - distance(b))
}

const isInside = (path: string, directory: string) =>
  path.startsWith(directory.endsWith(sep) ? directory : directory + sep)

/** Whether the conversation is stored in memory, where no other process can open it. */
export const endsWithProcess = ({ location }: Pick<Conversation, "location">): boolean => location.startsWith("memory:")

export interface OpenStoredOptions extends Pick<CommandCall, "cwd" | "env"> {
  /** Prefix of the id. Default: the newest conversation of this directory, else of the project. */
  readonly id?: string | undefined
}

export async function openStoredConversation({ cwd, env, id }: OpenStoredOptions): Promise<Conversation> {
  const conversation = await chooseConversation({ cwd, env, id, alsoUnowned: true })
  return openConversation({
    model: conversation.model ?? modelFrom(undefined, env),
    id: conversation.id,
    mustExist: true,
    ...{ cwd: await realpath(cwd), env, layers: [] },
  })
}
