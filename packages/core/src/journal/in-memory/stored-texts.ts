/** Converts the contents of an in-memory store to the texts that stores exchange, and back. */
import { StrataError } from "../../base/errors.ts"
import {
  BLOB,
  CONSOLIDATED,
  type ContentAddress,
  ContentDiffersError,
  type ContentFileBytes,
  MESSAGES,
} from "../contents.ts"
import { SPENT } from "../daily-totals.ts"
import { validateMemoryPath } from "../memory-files.ts"
import { encodeTeam, parsePosition, type TeamContent } from "../team-content.ts"
import { type StoredJournal, validateBlobName } from "./journal.ts"
import type { StoredMailbox } from "./mailbox.ts"
import type { StoredMemory } from "./memory-files.ts"

const QUARANTINE_BLOB = ".set-aside" // no blob has such a name

export function journalTexts(journal: StoredJournal | undefined): ReadonlyMap<string, Buffer> {
  const texts = new Map<string, Buffer>()
  for (const [name, data] of journal?.blobs ?? [])
    texts.set(name === QUARANTINE_BLOB ? "set-aside" : `${BLOB}${name}`, data)
  if (journal?.checkpoint !== undefined) texts.set("checkpoint", Buffer.from(journal.checkpoint))
  if (journal?.notes !== undefined) texts.set("notes", Buffer.from(journal.notes))
  return texts
}

export function putJournalFile(journal: StoredJournal, { name, data }: ContentFileBytes): void {
  if (name === "notes") journal.notes = decodeText(name, data)
  else if (name === "checkpoint") journal.checkpoint = decodeText(name, data)
  else if (name === "set-aside") journal.blobs.set(QUARANTINE_BLOB, Buffer.from(data))
  else journal.blobs.set(validateBlobName(name.slice(BLOB.length)), Buffer.from(data))
}

export function dropJournalFile(journal: StoredJournal, name: string): void {
  if (name === "notes") journal.notes = undefined
  else if (name === "checkpoint") journal.checkpoint = undefined
  else journal.blobs.delete(name === "set-aside" ? QUARANTINE_BLOB : name.slice(BLOB.length))
}

export function memoryTexts(memory: StoredMemory | undefined): ReadonlyMap<string, Buffer> {
  const texts = new Map<string, Buffer>()
  for (const [path, { text }] of memory?.files ?? []) if (path !== SPENT) texts.set(path, Buffer.from(text))
  if (memory?.consolidated) texts.set(CONSOLIDATED, Buffer.from(memory.consolidated.toISOString()))
  return texts
}

export function putMemory(memory: StoredMemory, address: ContentAddress, files: readonly ContentFileBytes[]): void {
  const now = new Date(0).toISOString()
  const texts = files.map(({ name, data, modified = now }) => ({ name, text: decodeText(name, data), modified }))
  for (const { name } of texts) if (name !== CONSOLIDATED) validateMemoryPath(name)
  for (const { name, text, modified } of texts) {
    if (name !== CONSOLIDATED) putText(memory, name, { text, modified })
    else if (Number.isNaN(Date.parse(text))) throw new ContentDiffersError(address, `"${name}"`)
    else memory.consolidated = new Date(text)
  }
}

export function putText(
  memory: StoredMemory,
  path: string,
  given: { readonly text: string; readonly modified: string },
): void {
  memory.files.set(path, { ...given, version: String(++memory.writes) })
}

export function eraseMemory(memory: StoredMemory | undefined, names?: readonly string[]): void {
  if (!memory) return
  for (const name of names ?? [...memory.files.keys()].filter((path) => path !== SPENT)) memory.files.delete(name)
  if (names === undefined || names.includes(CONSOLIDATED)) memory.consolidated = undefined
  memory.writes++
}

export function mailboxTexts(mailbox: StoredMailbox | undefined): ReadonlyMap<string, Buffer> {
  if (!mailbox || mailbox.log.length + mailbox.members.size === 0) return new Map()
  const messages = mailbox.log.map(({ cursor, ...message }) => ({ ...message, at: parsePosition(cursor)! }))
  const members = [...mailbox.members.values()].map(({ member: { name, conversation }, cursor }) => {
    const reached = cursor === undefined ? 0 : parsePosition(cursor)!
    const read = messages.findLast(({ at }) => at <= reached)?.at
    return { name, conversation, ...(read === undefined ? {} : { read }) }
  })
  return encodeTeam({ messages, senders: Object.fromEntries(mailbox.senders), members, end: mailbox.end })
}

/** Appends only: the stored messages must be a prefix of the new ones. */
export function putTeam(mailbox: StoredMailbox, address: ContentAddress, team: TeamContent): void {
  const known = mailboxTexts(mailbox).get(MESSAGES) ?? Buffer.alloc(0)
  if (!encodeTeam(team).get(MESSAGES)!.subarray(0, known.length).equals(known))
    throw new ContentDiffersError(address, "a message")
  for (const { at, ...message } of team.messages.slice(mailbox.log.length))
    mailbox.log.push({ ...message, cursor: String(at) })
  mailbox.end = Math.max(mailbox.end, team.end ?? 0)
  for (const [name, sequence] of Object.entries(team.senders)) mailbox.senders.set(name, sequence)
  for (const { name, conversation, read } of team.members)
    mailbox.members.set(name, {
      ...{ member: { name, conversation }, idleAt: undefined, isJoined: false },
      cursor: read === undefined ? undefined : String(read),
    })
}

export function blankMessages(mailbox: StoredMailbox | undefined, names: readonly string[]): void {
  const places = new Set(names.map((name) => name.slice(MESSAGES.length + 1)))
  for (const [n, message] of mailbox?.log.entries() ?? [])
    if (places.has(String(parsePosition(message.cursor)))) mailbox!.log[n] = { ...message, content: {} }
}

/** This store keeps only text, so the data must be UTF-8. */
function decodeText(name: string, data: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data)
  } catch {
    throw new StrataError(
      `"${name}" is not UTF-8 text, which is all that a store in memory keeps there. Nothing was written.`,
    )
  }
}
