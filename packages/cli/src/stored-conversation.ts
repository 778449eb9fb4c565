/** Lists the stored conversations of a project, and opens one to change its context. This needs no model and no key. */
import { realpath } from "node:fs/promises"
import { sep } from "node:path"
import {
  type Conversation,
  listConversations,
  localUser,
  openConversation,
  type StoredConversation,
} from "@strata/core"
import { type CommandCall, UsageError } from "./command.ts"
import { findById } from "./conversation-names.ts"
import { modelFrom } from "./session-options.ts"

export interface StoredConversationsOptions extends Pick<CommandCall, "cwd" | "env"> {
  /** Includes conversations that a program stored without an owner. They are opened only by id. */
  readonly alsoUnowned?: boolean
}

/** Conversations of the user, newest first. */
export async function conversationsIn(place: StoredConversationsOptions): Promise<readonly StoredConversation[]> {
  const { cwd, env, alsoUnowned = false } = place
  return listConversations({ cwd: await realpath(cwd), env, owner: localUser, alsoUnowned })
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
  const begun = await conversationsIn({ cwd, env, alsoUnowned: true })
  if (begun.length === 0) throw new UsageError("This project has no conversation yet.")
  const conversation = id === undefined ? nearestFirst(begun, await realpath(cwd))[0]! : findById(id, begun)
  return openConversation({
    model: conversation.model ?? modelFrom(undefined, env),
    id: conversation.id,
    mustExist: true,
    ...{ cwd: await realpath(cwd), env, layers: [] },
  })
}
