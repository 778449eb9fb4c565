/** What a handle names in one journal. */
import { type Entry, isDecision, isMessage } from "../journal/entries.ts"
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

type Readable = Pick<Journal, "find" | "findByHandle">

/**
 * Everything with this handle, newest first. More than one is rare: two messages whose digits are equal. The line of a folded range
 * represents its messages, so its handle names one end of them.
 */
export async function messagesNamed(
  journal: Readable,
  handle: string,
  end: "from" | "to" = "from",
): Promise<readonly Named[]> {
  const { message = "", blocks: place = [] } = parseHandle(handle) ?? {}
  const [block, inner] = place
  return (await entriesOf(journal, message, end)).filter(isMessage).flatMap((entry): readonly Named[] => {
    if (block === undefined) return [{ message: entry, place }]
    const found = blockAt(entry, { uuid: entry.uuid, block, ...(inner === undefined ? {} : { inner }) })
    return found ? [{ message: entry, block: found, place }] : []
  })
}

async function entriesOf(journal: Readable, message: string, end: "from" | "to"): Promise<readonly Entry[]> {
  const named = isShort(message) ? await journal.findByHandle(message) : []
  const found = named.length > 0 ? named : [message === "" ? undefined : await journal.find(message)]
  const entries = await Promise.all(
    found.map((entry) => (entry && isDecision(entry) && entry.subtype === "folded" ? journal.find(entry[end]) : entry)),
  )
  return entries.filter((entry) => entry !== undefined)
}
