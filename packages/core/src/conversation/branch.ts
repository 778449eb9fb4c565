import { ConversationExistsError } from "../base/errors.ts"
import type { JournalAddress, Store } from "../journal/store.ts"
import type { Uuid } from "../messages/messages.ts"
import { copyPath } from "../views/load.ts"
import type { ConversationRecord } from "./record.ts"

/** Copies a conversation up to a message into a new journal. The copy names where it comes from. */
export async function copyUpTo(
  { record, store }: { readonly record: ConversationRecord; readonly store: Store },
  { uuid, to }: { readonly uuid: Uuid; readonly to: Partial<JournalAddress> & { readonly id: string } },
): Promise<void> {
  const { journal, id: conversation } = record
  const copy = await store.open({ ...journal.address, ...to }, { access: "write", create: true })
  try {
    if (!copy.opening.created) throw new ConversationExistsError(to.id, store.description)
    await copyPath(journal, copy, uuid)
    await copy.append([record.place({ type: "strata", subtype: "branched", from: { conversation, uuid } }, uuid)])
  } finally {
    await copy.close()
  }
}
