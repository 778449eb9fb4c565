/** The conversations kept for a project, and one of them opened to change what is sent of it: no model is asked, no key is needed. */
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
  /** Also those that a program of yours keeps without an owner. They are opened only by their name. */
  readonly alsoUnowned?: boolean
}

/** The user's conversations, newest first. */
export async function conversationsIn(place: StoredConversationsOptions): Promise<readonly StoredConversation[]> {
  const { cwd, env, alsoUnowned = false } = place
  return listConversations({ cwd: await realpath(cwd), env, owner: localUser, alsoUnowned })
}

/**
 * Two clones of one repository are one project. What was begun in this directory comes first, then what was begun above or below it: a
 * command in one clone is about that clone. Within each, the newest.
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

/** Where the store is memory, no other process can open it. */
export const endsWithProcess = ({ location }: Pick<Conversation, "location">): boolean => location.startsWith("memory:")

export interface OpenStoredOptions extends Pick<CommandCall, "cwd" | "env"> {
  /** The start of its id. Default: the newest conversation of this directory, else of the project. */
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
