/** Continues from an earlier message, in this conversation or in a copy of it. */
import { ConversationExistsError } from "../base/errors.ts"
import type { Uuid } from "../messages/messages.ts"
import { copyPath } from "../views/load.ts"
import type { Engine } from "./engine.ts"

export async function rewind(engine: Engine, uuid: Uuid): Promise<void> {
  const { record } = engine
  const place = await placeOf(engine, uuid)
  await record.rewind(place)
  engine.prompt.compareAgain()
  engine.preparer.forgetUndecided()
  await record.recordSession() // a rewind does not restore the mode of that time
}

/** Copies the conversation up to a message into a new journal, which records its origin. Resolves with the id of the copy. */
export async function branch(
  engine: Engine,
  { uuid: message, to }: { readonly uuid: Uuid; readonly to: { readonly id: string; readonly under?: string } },
): Promise<string> {
  const { record, parts } = engine
  const { journal, id: conversation } = record
  const uuid = await placeOf(engine, message)
  const copy = await parts.store.open({ ...journal.address, ...to }, { access: "write", create: true })
  try {
    if (!copy.opening.created) throw new ConversationExistsError(to.id, parts.store.description)
    await copyPath(journal, copy, uuid)
    await copy.append([record.place({ type: "strata", subtype: "branched", from: { conversation, uuid } }, uuid)])
    return to.id
  } finally {
    await copy.close()
  }
}

/**
 * The entry to continue from. For the last message of a compaction's tail, that is the end of the compaction, so that its summary is
 * included.
 */
async function placeOf(engine: Engine, uuid: Uuid): Promise<Uuid> {
  await engine.mustBeMessage(uuid)
  return engine.views.compactions.ends.get(uuid) ?? uuid
}
