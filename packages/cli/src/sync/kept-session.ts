/** One journal with its notes and stored results, as it is kept: read through the store, and continued byte for byte. */
import { readdir } from "node:fs/promises"
import {
  ConversationLockedError,
  decodeLine,
  encodeLine,
  type Journal,
  type JournalAddress,
  type Store,
} from "@strata/core"
import { journalPaths } from "@strata/core/internal/journal/file/layout"

export interface KeptSession {
  /** Whole lines, with their ends. */
  readonly lines: Buffer
  readonly notes?: string
  readonly blobs: ReadonlyMap<string, Buffer>
}

export interface SessionPlace {
  readonly store: Store
  /** Where the file store keeps its files. */
  readonly root: string
}

/** Nothing if there is no such journal, or nothing in it yet. */
export async function readSession(place: SessionPlace, address: JournalAddress): Promise<KeptSession | undefined> {
  const lines = await linesOf(place.store, address)
  if (lines.length === 0) return undefined
  const journal = await place.store.open(address, { access: "read" })
  try {
    const notes = await journal.readNotes()
    const blobs = await blobsOf(journal, place)
    return { lines, blobs, ...(notes === undefined ? {} : { notes }) }
  } finally {
    await journal.close()
  }
}

async function linesOf(store: Store, { id, ...place }: JournalAddress): Promise<Buffer> {
  const feed = store.feed(place)
  const parts: Buffer[] = []
  try {
    for await (const { bytes, ended } of feed.lines(id, 0)) if (ended) parts.push(bytes, LINE_END)
  } finally {
    feed.close()
  }
  return Buffer.concat(parts)
}

const LINE_END = Buffer.from("\n")

/** Only files can be listed: the port reads a stored result by its name. */
async function blobsOf(journal: Journal, { root }: SessionPlace): Promise<ReadonlyMap<string, Buffer>> {
  const blobs = new Map<string, Buffer>()
  if (journal.file === undefined) return blobs
  const names = await readdir(journalPaths(root, journal.address).blobs).catch(() => [] as string[])
  for (const name of names.filter((one) => BLOB_NAME.test(one)).sort()) {
    const bytes = await journal.readBlob(name)
    if (bytes) blobs.set(name, bytes)
  }
  return blobs
}

export const BLOB_NAME = /^[A-Za-z0-9_-]{1,200}(?:\.[A-Za-z0-9_-]{1,20})?$/

export type Continued =
  | { readonly state: "continued" }
  /** The end of a sentence. */
  | { readonly state: "left"; readonly why: string }

export interface Continuing extends SessionPlace {
  readonly address: JournalAddress
  /** What is there now. */
  readonly before: Buffer
  /** It begins with what is there. */
  readonly session: KeptSession
}

/** Writes what is missing. A conversation that someone has open is left as it is, and so is one that would not have the same bytes. */
export async function continueSession({ store, address, before, session }: Continuing): Promise<Continued> {
  const rest = linesIn(session.lines.subarray(before.length))
  const entries = rest.map((line) => decodeLine(line))
  const isExact = entries.every(
    (decoded, at) =>
      decoded.state === "whole" && encodeLine(decoded.entry).equals(Buffer.concat([rest[at]!, LINE_END])),
  )
  if (!isExact) return { state: "left", why: "some of its lines are damaged, or another version of Strata wrote them" }
  let journal: Journal
  try {
    journal = await store.open(address, { access: "write", create: true })
  } catch (error) {
    if (error instanceof ConversationLockedError) return { state: "left", why: "it is open in another process" }
    throw error
  }
  try {
    if (!(await linesOf(store, address)).equals(before))
      return { state: "left", why: "it went on meanwhile; sync again" }
    for (const [name, bytes] of session.blobs)
      if ((await journal.readBlob(name)) === undefined) await journal.writeBlob(name, bytes)
    await journal.append(
      entries.flatMap((decoded) => (decoded.state === "whole" ? [decoded.entry] : [])),
      { endsTurn: true },
    )
    await journal.sync()
    if (session.notes !== undefined && rest.length > 0) await journal.writeNotes(session.notes)
    return { state: "continued" }
  } finally {
    await journal.close()
  }
}

/** Without their ends. */
export function linesIn(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(10, at)
    const stop = end === -1 ? bytes.length : end
    lines.push(bytes.subarray(at, stop))
    at = stop + 1
  }
  return lines
}
