/** What a store in memory keeps, as the texts that other stores take, and back. */
import { StrataError } from "../../base/errors.ts"
import {
  BLOB,
  CONSOLIDATED,
  type ContentAddress,
  ContentDiffersError,
  type ContentFileBytes,
  MESSAGES,
} from "../contents.ts"
import { checkedMemoryPath } from "../memory-files.ts"
import { SPENT } from "../sums-content.ts"
import { numberOfPlace, type TeamContent, teamTexts } from "../team-content.ts"
import { checkedBlobName, type KeptJournal } from "./journal.ts"
import type { KeptMailbox } from "./mailbox.ts"
import type { KeptMemory } from "./memory-files.ts"

const SET_ASIDE = ".set-aside" // no blob has such a name

export function journalTexts(journal: KeptJournal | undefined): ReadonlyMap<string, Buffer> {
  const texts = new Map<string, Buffer>()
  for (const [name, data] of journal?.blobs ?? []) texts.set(name === SET_ASIDE ? "set-aside" : `${BLOB}${name}`, data)
  if (journal?.checkpoint !== undefined) texts.set("checkpoint", Buffer.from(journal.checkpoint))
  if (journal?.notes !== undefined) texts.set("notes", Buffer.from(journal.notes))
  return texts
}

export function putJournalFile(journal: KeptJournal, { name, data }: ContentFileBytes): void {
  if (name === "notes") journal.notes = textOf(name, data)
  else if (name === "checkpoint") journal.checkpoint = textOf(name, data)
  else if (name === "set-aside") journal.blobs.set(SET_ASIDE, Buffer.from(data))
  else journal.blobs.set(checkedBlobName(name.slice(BLOB.length)), Buffer.from(data))
}

export function dropJournalFile(journal: KeptJournal, name: string): void {
  if (name === "notes") journal.notes = undefined
  else if (name === "checkpoint") journal.checkpoint = undefined
  else journal.blobs.delete(name === "set-aside" ? SET_ASIDE : name.slice(BLOB.length))
}

export function memoryTexts(memory: KeptMemory | undefined): ReadonlyMap<string, Buffer> {
  const texts = new Map<string, Buffer>()
  for (const [path, { text }] of memory?.files ?? []) if (path !== SPENT) texts.set(path, Buffer.from(text))
  if (memory?.consolidated) texts.set(CONSOLIDATED, Buffer.from(memory.consolidated.toISOString()))
  return texts
}

export function putMemory(memory: KeptMemory, address: ContentAddress, files: readonly ContentFileBytes[]): void {
  const now = new Date(0).toISOString()
  const texts = files.map(({ name, data, modified = now }) => ({ name, text: textOf(name, data), modified }))
  for (const { name } of texts) if (name !== CONSOLIDATED) checkedMemoryPath(name)
  for (const { name, text, modified } of texts) {
    if (name !== CONSOLIDATED) putText(memory, name, { text, modified })
    else if (Number.isNaN(Date.parse(text))) throw new ContentDiffersError(address, `"${name}"`)
    else memory.consolidated = new Date(text)
  }
}

export function putText(
  memory: KeptMemory,
  path: string,
  given: { readonly text: string; readonly modified: string },
): void {
  memory.files.set(path, { ...given, version: String(++memory.writes) })
}

export function eraseMemory(memory: KeptMemory | undefined, names?: readonly string[]): void {
  if (!memory) return
  for (const name of names ?? [...memory.files.keys()].filter((path) => path !== SPENT)) memory.files.delete(name)
  if (names === undefined || names.includes(CONSOLIDATED)) memory.consolidated = undefined
  memory.writes++
}

export function mailboxTexts(mailbox: KeptMailbox | undefined): ReadonlyMap<string, Buffer> {
  if (!mailbox || mailbox.log.length + mailbox.permits.size === 0) return new Map()
  const messages = mailbox.log.map(({ cursor, ...message }) => ({ ...message, at: numberOfPlace(cursor)! }))
  const members = [...mailbox.permits.values()].map(({ member: { name, conversation }, cursor }) => {
    const reached = cursor === undefined ? 0 : numberOfPlace(cursor)!
    const read = messages.findLast(({ at }) => at <= reached)?.at
    return { name, conversation, ...(read === undefined ? {} : { read }) }
  })
  return teamTexts({ messages, senders: Object.fromEntries(mailbox.senders), members, end: mailbox.end })
}

/** What is there must be the beginning of it. */
export function putTeam(mailbox: KeptMailbox, address: ContentAddress, team: TeamContent): void {
  const known = mailboxTexts(mailbox).get(MESSAGES) ?? Buffer.alloc(0)
  if (!teamTexts(team).get(MESSAGES)!.subarray(0, known.length).equals(known))
    throw new ContentDiffersError(address, "a message")
  for (const { at, ...message } of team.messages.slice(mailbox.log.length))
    mailbox.log.push({ ...message, cursor: String(at) })
  mailbox.end = Math.max(mailbox.end, team.end ?? 0)
  for (const [name, sequence] of Object.entries(team.senders)) mailbox.senders.set(name, sequence)
  for (const { name, conversation, read } of team.members)
    mailbox.permits.set(name, {
      ...{ member: { name, conversation }, idleAt: undefined, isHere: false },
      cursor: read === undefined ? undefined : String(read),
    })
}

export function blankMessages(mailbox: KeptMailbox | undefined, names: readonly string[]): void {
  const places = new Set(names.map((name) => name.slice(MESSAGES.length + 1)))
  for (const [n, message] of mailbox?.log.entries() ?? [])
    if (places.has(String(numberOfPlace(message.cursor)))) mailbox!.log[n] = { ...message, content: {} }
}

/** This store keeps texts as texts. */
function textOf(name: string, data: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data)
  } catch {
    throw new StrataError(
      `"${name}" is not UTF-8 text, which is all that a store in memory keeps there. Nothing was written.`,
    )
  }
}
