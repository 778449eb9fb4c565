/** Finds what a handle names: in this conversation, or in the one of an agent that worked for it. */
import { type Entry, isMessage } from "../journal/entries.ts"
import type { Journal } from "../journal/store.ts"
import type { Block } from "../messages/blocks.ts"
import { isShort, parseHandle } from "../messages/handles.ts"
import type { Message } from "../messages/messages.ts"
import { blockAt } from "../views/record/archive.ts"

export interface RecallPlaces {
  readonly journal: Journal
  readonly openAgent: (agent: string) => Promise<Journal>
}

export interface Named {
  readonly message: Message
  /** Absent where the handle names a whole message. */
  readonly block?: Block
}

/** Everything with this handle, newest first. More than one is rare: two messages whose digits are equal. */
export async function namedBy(text: string, { journal, openAgent }: RecallPlaces): Promise<readonly Named[]> {
  const handle = parseHandle(text)
  if (!handle) return []
  if (handle.agent === undefined) return namedIn(journal, handle)
  const opened = await openAgent(handle.agent)
  try {
    return await namedIn(opened, handle)
  } finally {
    await opened.close()
  }
}

interface InJournal {
  readonly message: string
  readonly blocks: readonly number[]
}

async function namedIn(journal: Journal, { message, blocks }: InJournal): Promise<readonly Named[]> {
  const [block, inner] = blocks
  return (await entriesOf(journal, message)).filter(isMessage).flatMap((entry): readonly Named[] => {
    if (block === undefined) return [{ message: entry }]
    const found = blockAt(entry, { uuid: entry.uuid, block, ...(inner === undefined ? {} : { inner }) })
    return found ? [{ message: entry, block: found }] : []
  })
}

async function entriesOf(journal: Journal, message: string): Promise<readonly Entry[]> {
  const named = isShort(message) ? await journal.findByHandle(message) : []
  if (named.length > 0) return named
  const found = await journal.find(message)
  return found ? [found] : []
}
