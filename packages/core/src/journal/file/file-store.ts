/** The store on the local disk: plain files that people can read, grep, back up and version. */
import { access, readdir, stat } from "node:fs/promises"
import { join } from "node:path"
import { type Clock, systemClock } from "../../base/clock.ts"
import { ConversationNotFoundError, JournalOpenError } from "../../base/errors.ts"
import { isSafeId } from "../../base/ids.ts"
import { describeDamage } from "../damage.ts"
import { listingFacts } from "../listing.ts"
import type { ConversationListing, FlushMode, JournalAddress, Store } from "../store.ts"
import type { FileJournal } from "./file-journal.ts"
import { journalDirectory, journalPaths, memoryPlaceDirectory, teamDirectory } from "./layout.ts"
import { MailboxDirectory } from "./mailbox-directory.ts"
import { memoryDirectory } from "./memory-directory.ts"
import type { OpenFileJournal } from "./open-file-journal.ts"

export interface FileStoreOptions {
  readonly root: string
  readonly flush?: FlushMode
  readonly clock?: Clock
}

export function fileStore({ root, flush = "turn", clock = systemClock }: FileStoreOptions): Store {
  return {
    description: root,

    async open(address, { access: mode, create = false }) {
      if (!create || mode === "read") await mustExist(root, address)
      return openLazily({ root, address, access: mode, flush, now: clock.now().toISOString() })
    },

    async list(project, { under } = {}) {
      const owner = under === undefined ? { project } : { project, under }
      const directory = journalDirectory(root, owner)
      const names = await readdir(directory).catch(() => [] as string[])
      const ids = names.filter((name) => name.endsWith(".jsonl")).map((name) => name.slice(0, -".jsonl".length))
      const listed = await Promise.all(ids.filter(isSafeId).map((id) => listingOf(root, { ...owner, id }, directory)))
      const listings = listed.filter((listing) => listing !== undefined)
      return listings.sort((a, b) => b.touched.localeCompare(a.touched))
    },

    memories: (place) => memoryDirectory({ clock, ...memoryPlaceDirectory(root, place) }),

    mailboxes: (team) => new MailboxDirectory({ directory: teamDirectory(root, team), flush, clock }),
  }
}

/** Loads the journal's code with the first journal. */
async function openLazily(options: OpenFileJournal): Promise<FileJournal> {
  const { openFileJournal } = await import("./open-file-journal.ts")
  return openFileJournal(options)
}

async function mustExist(root: string, address: JournalAddress): Promise<void> {
  const { journal } = journalPaths(root, address)
  await access(journal).catch(() => {
    throw new ConversationNotFoundError(address.id, root)
  })
}

async function listingOf(
  root: string,
  address: JournalAddress,
  directory: string,
): Promise<ConversationListing | undefined> {
  const file = await stat(join(directory, `${address.id}.jsonl`)).catch(() => undefined)
  if (!file?.isFile()) return undefined
  const listing = { id: address.id, bytes: file.size, touched: file.mtime.toISOString() }
  try {
    return { ...listing, ...(await factsOf({ root, address, access: "read", flush: "never", now: "" })) }
  } catch (error) {
    if (error instanceof JournalOpenError) return { ...listing, problem: error.message } // the others are listed all the same
    throw error
  }
}

async function factsOf(options: OpenFileJournal): Promise<Partial<ConversationListing>> {
  const journal = await openLazily(options)
  try {
    const facts = await listingFacts(journal)
    const problem = damageFound(journal)
    return { ...facts, ...(problem === undefined ? {} : { problem }) }
  } finally {
    await journal.close()
  }
}

function damageFound({ opening, location }: FileJournal): string | undefined {
  const { damagedLines, damagedCount: count } = opening
  const [first] = damagedLines
  return first && describeDamage({ first, count }, location)
}
