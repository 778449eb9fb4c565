/** The store on the local disk: plain files that users can read, grep, back up and version. */
import { access, readdir, stat } from "node:fs/promises"
import { join } from "node:path"
import { type Clock, isSafeId, systemClock } from "../../base/clock.ts"
import { ConversationNotFoundError, JournalOpenError } from "../../base/errors.ts"
import { describeDamage } from "../line.ts"
import { readListingFacts } from "../listing.ts"
import type { ConversationListing, FlushMode, JournalAddress, Store } from "../store.ts"
import { fileContents } from "./contents/file-contents.ts"
import { FileFeed } from "./file-feed.ts"
import type { FileJournal } from "./file-journal.ts"
import { listJournalIds } from "./journal-ids.ts"
import { journalDirectory, journalPaths, logPath, memoryNamespaceDirectory, PROJECTS, teamDirectory } from "./layout.ts"
import { holderOf } from "./lock.ts"
import { MailboxDirectory } from "./mailbox-directory.ts"
import { memoryDirectory } from "./memory-directory.ts"
import type { OpenFileJournal } from "./open-file-journal.ts"
import { permitInFiles } from "./permit-files.ts"
import { appendLogFile } from "./small-files.ts"

export interface FileStoreOptions {
  readonly root: string
  readonly flush?: FlushMode
  readonly clock?: Clock
}

export function fileStore({ root, flush = "turn", clock = systemClock }: FileStoreOptions): Store {
  return {
    description: root,

    async open(address, { access: mode, create = false }) {
      if (!create || mode === "read") await assertJournalExists(root, address)
      return openLazily({ root, address, access: mode, flush, now: clock.now().toISOString() })
    },

    async projects() {
      const names = await readdir(join(root, PROJECTS)).catch(() => [] as string[])
      const projects = names.filter(isSafeId)
      const ids = await Promise.all(projects.map((project) => listJournalIds(journalDirectory(root, { project }))))
      return projects.filter((_, at) => ids[at]!.length > 0).sort()
    },

    async list(project, { under, isBare = false } = {}) {
      const owner = under === undefined ? { project } : { project, under }
      const ids = await listJournalIds(journalDirectory(root, owner))
      const listing = isBare ? bareListing : listingOf
      const listed = await Promise.all(ids.map((id) => listing(root, { ...owner, id })))
      const listings = listed.filter((listing) => listing !== undefined)
      return listings.sort((a, b) => b.touched.localeCompare(a.touched))
    },

    has: (addresses) =>
      Promise.all(
        addresses.map(({ id, ...namespace }) =>
          isSafeId(id)
            ? access(journalPaths(root, { ...namespace, id }).journal).then(
                () => true,
                () => false,
              )
            : false,
        ),
      ),

    async writerOf(address) {
      const { lock } = journalPaths(root, address)
      const holder = await holderOf(lock)
      return holder && holder.status !== "dead" ? { ...holder, status: holder.status, path: lock } : undefined
    },

    memories: (namespace) => memoryDirectory({ clock, ...memoryNamespaceDirectory(root, namespace) }),

    mailboxes: (team) => new MailboxDirectory({ directory: teamDirectory(root, team), flush, clock }),

    permit: (address) => permitInFiles(address, { root, clock }),

    feed: (namespace) => new FileFeed(journalDirectory(root, namespace)),

    log: (address) => appendLogFile(logPath(root, address)),

    contents: () => fileContents({ root, clock }),
  }
}

/** Loads the journal code only when the first journal is opened. */
async function openLazily(options: OpenFileJournal): Promise<FileJournal> {
  const { openFileJournal } = await import("./open-file-journal.ts")
  return openFileJournal(options)
}

async function assertJournalExists(root: string, address: JournalAddress): Promise<void> {
  const { journal } = journalPaths(root, address)
  await access(journal).catch(() => {
    throw new ConversationNotFoundError(address.id, root)
  })
}

async function bareListing(root: string, address: JournalAddress): Promise<ConversationListing | undefined> {
  const file = await stat(journalPaths(root, address).journal).catch(() => undefined)
  return file?.isFile() ? { id: address.id, bytes: file.size, touched: file.mtime.toISOString() } : undefined
}

async function listingOf(root: string, address: JournalAddress): Promise<ConversationListing | undefined> {
  const listing = await bareListing(root, address)
  if (!listing) return undefined
  try {
    return { ...listing, ...(await factsOf({ root, address, access: "read", flush: "never", now: "" })) }
  } catch (error) {
    if (error instanceof JournalOpenError) return { ...listing, problem: error.message } // the other conversations are still listed
    throw error
  }
}

async function factsOf(options: OpenFileJournal): Promise<Partial<ConversationListing>> {
  const journal = await openLazily(options)
  try {
    const facts = await readListingFacts(journal)
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
