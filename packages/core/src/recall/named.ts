/** What a handle names in one journal. */
import { type Entry, isMessage } from "../journal/entries.ts"
import type { Journal } from "../journal/store.ts"
import type { Block } from "../messages/blocks.ts"
import { isShort, parseHandle } from "../messages/handles.ts"
import type { Message } from "../messages/messages.ts"
import { blockAt } from "../views/record/archive.ts"

export interface Named {
  readonly message: Message
  /** Absent where the handle names a whole message. */
  readonly block?: Block
  /** The place of the block. */
  readonly place: readonly number[]
}

/** Everything with this handle, newest first. More than one is rare: two messages whose digits are equal. */
export async function messagesNamed(journal: Journal, handle: string): Promise<readonly Named[]> {
  const { message = "", blocks: place = [] } = parseHandle(handle) ?? {}
  const [block, inner] = place
  return (await entriesOf(journal, message)).filter(isMessage).flatMap((entry): readonly Named[] => {
    if (block === undefined) return [{ message: entry, place }]
    const found = blockAt(entry, { uuid: entry.uuid, block, ...(inner === undefined ? {} : { inner }) })
    return found ? [{ message: entry, block: found, place }] : []
  })
}

async function entriesOf(journal: Journal, message: string): Promise<readonly Entry[]> {
  const named = isShort(message) ? await journal.findByHandle(message) : []
  if (named.length > 0) return named
  const found = message === "" ? undefined : await journal.find(message)
  return found ? [found] : []
}
