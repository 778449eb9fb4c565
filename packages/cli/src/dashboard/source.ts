/** Provides conversations and the memories of a project to the pages. */
import { realpath } from "node:fs/promises"
import {
  localUser,
  type Owner,
  openConversation,
  openMemoryBank,
  openRecall,
  type StoredConversation,
  type StoreLocation,
  strataDirectory,
} from "@strata/core"
import { openAgentDirectory } from "@strata/core/agent"
import { storeFrom } from "@strata/core/store"
import type { ConversationActions, NamedConversation, PageSource } from "@strata/page/server"
import type { CommandCall } from "../command.ts"
import { modelFrom } from "../session-options.ts"
import { conversationsIn, otherOwners } from "../stored-conversation.ts"
import { projectWork } from "./work.ts"

export const UNTITLED = "no title yet"

export interface SourcePlace extends Pick<CommandCall, "cwd" | "env"> {
  /** Owner of the conversations and memories. Default: the user. */
  readonly owner?: string | undefined
}

type SourceOwner = Pick<CommandCall, "cwd" | "env"> & { readonly owner: Owner }

export async function projectSource({ cwd, env, owner }: SourcePlace): Promise<PageSource> {
  const place: SourceOwner = { cwd: await realpath(cwd), env, owner: owner ?? localUser }
  const store = storeFrom({ dir: strataDirectory(env), env })
  const listed = () => conversationsIn({ ...place, owner, alsoUnowned: true })
  return {
    name: owner === undefined ? "Conversations of this project" : `Conversations of ${owner}`,
    conversations: async () =>
      (await listed()).map(({ id, title = UNTITLED, updated, model }) => ({
        ...{ id, title, touched: updated },
        ...(model === undefined ? {} : { model }),
      })),
    async find(id): Promise<NamedConversation | undefined> {
      const found = (await listed()).find((each) => each.id === id)
      if (!found) return undefined
      const { title = UNTITLED, address } = found
      return { id, title, location: { store, address }, actions: conversationActions(found, { ...place, owner }) }
    },
    notListed: () => otherOwners({ ...place, owner }),
    memories: () => openMemoryBank({ ...place, readOnly: owner !== undefined }),
    work: await projectWork({ ...place, store, conversations: listed, titleOf: ({ title = UNTITLED }) => title }),
  }
}

export function conversationActions(
  conversation: StoredConversation,
  { owner, ...place }: SourcePlace,
): ConversationActions {
  const { id, model, isOwned } = conversation
  const where: StoreLocation = isOwned ? { ...place, owner: owner ?? localUser } : place
  const memory = owner === undefined ? {} : { memory: { owner } }
  const open = (options: { readonly layers?: [] }) =>
    openConversation({
      ...{ model: model ?? modelFrom(undefined, place.env), id, mustExist: true },
      ...{ ...place, ...memory, ...options },
    })
  return {
    agents: () => openAgentDirectory(conversation, where),
    async undo(request) {
      await using chat = await open({ layers: [] })
      return await chat.undo({ ...request, by: "page" })
    },
    async planCompaction() {
      await using chat = await open({})
      return await chat.planCompaction()
    },
    async recall(words) {
      await using past = await openRecall(conversation, where)
      return await past.recall({ search: words })
    },
  }
}
