/**
 * Writes an imported conversation into a journal, so that you can open, inspect and continue it like any other. Messages of the active
 * branch are chained in order; abandoned branches keep their position. Each sub-agent gets its own journal.
 */

import type { DecisionEntry, Uuid } from "@strata/core"
import type { Clock } from "@strata/core/base"
import { uuidFrom } from "@strata/core/base"
import { firstUserLine, isBoundary, type Message } from "@strata/core/messages"
import type { Decision, Entry, JournalAddress, Store } from "@strata/core/store"
import { listActiveBranch } from "./active-branch.ts"
import { importedEntries } from "./imported-entries.ts"
import type { ImportedConversation } from "./importer.ts"
import { spilledBytes } from "./large-file.ts"

export interface ImportTarget {
  readonly store: Store
  readonly project: string
  readonly clock: Clock
  /** Name of the imported file, for the record. */
  readonly source: string
  /** Id of the new conversation. */
  readonly id: string
  /** Whether the file is one of the user's own sessions, so that its directory counts as the conversation's origin. */
  readonly isOwn?: boolean
}

const BATCH = 1_000 // entries per write
const BATCH_BYTES = 4 * 1024 * 1024 // bytes per write of content that is not in memory

export async function writeImported(imported: ImportedConversation, target: ImportTarget): Promise<void> {
  const { store } = target
  for (const { address, entries } of listWrites(imported, target)) await write(store, { address, entries })
}

/** Appends the entries of a file that the journals do not have yet. */
export async function addImported(imported: ImportedConversation, target: ImportTarget): Promise<void> {
  const { store } = target
  const newest = imported.messages.at(-1)?.uuid ?? ""
  for (const { address, entries } of listWrites(imported, target)) {
    const known = await uuidsIn(store, address)
    const isNew = ({ uuid }: Entry) => !known.has(uuid)
    // decisions that the journal has are skipped; `imported` is written again with the new line count
    const renamed = entries.map(
      (entry): Entry =>
        entry.type === "strata" && entry.subtype === "imported"
          ? { ...entry, uuid: uuidFrom(`${entry.uuid}:${newest}`) }
          : entry,
    )
    await write(store, { address, entries: renamed.filter(isNew) })
  }
}

async function uuidsIn(store: Store, address: JournalAddress): Promise<ReadonlySet<string>> {
  const { project, id, under } = address
  const listed = await store.list(project, under === undefined ? {} : { under })
  if (!listed.some((one) => one.id === id)) return new Set()
  const journal = await store.open(address, { access: "read" })
  const uuids = new Set<string>()
  try {
    for await (const { uuid } of journal.entries()) uuids.add(uuid)
  } finally {
    await journal.close()
  }
  return uuids
}

/** The entries to write for each journal, sub-agents first. */
function listWrites(imported: ImportedConversation, target: ImportTarget): readonly JournalWrite[] {
  const { project, id } = target
  const writes: JournalWrite[] = []
  const { agents = [], format, cwd } = imported
  for (const { id: agent, messages, model, description, report = imported.report } of agents) {
    const own = {
      format,
      id: agent,
      title: description,
      model,
      messages,
      report,
      ...(cwd === undefined ? {} : { cwd }),
    }
    // ids derive from the journal's address, because ids of agents are unique only within one conversation
    const entries = entriesOf(own, { ...target, id: `${id}:${agent}` })
    writes.push({ address: { project, id: agent, under: id }, entries })
  }
  return [...writes, { address: { project, id }, entries: entriesOf(imported, target) }]
}

interface JournalWrite {
  readonly address: JournalAddress
  readonly entries: readonly Entry[]
}

async function write(store: Store, { address, entries }: JournalWrite): Promise<void> {
  const journal = await store.open(address, { access: "write", create: true })
  try {
    for (const batch of splitBatches(entries)) await journal.append(batch)
    await journal.sync()
  } finally {
    await journal.close()
  }
}

function* splitBatches(entries: readonly Entry[]): Generator<readonly Entry[]> {
  let batch: Entry[] = []
  let bytes = 0
  for (const entry of entries) {
    batch.push(entry)
    bytes += spilledBytes(entry)
    if (batch.length < BATCH && bytes < BATCH_BYTES) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

function entriesOf(imported: ImportedConversation, target: ImportTarget): readonly Entry[] {
  const main = chainMessages(listActiveBranch(imported.messages))
  const onMain = new Map(main.map((message) => [message.uuid, message]))
  // other branches first, so that the newest message is on the active branch
  const side = imported.messages.filter(({ uuid }) => !onMain.has(uuid))
  const newest = main.at(-1)?.uuid ?? null
  const now = target.clock.now().toISOString()
  const decide = (name: string, decision: Decision): DecisionEntry =>
    ({
      type: "strata",
      uuid: uuidFrom(`${target.id}:${name}`),
      parentUuid: newest,
      timestamp: now,
      ...decision,
    }) as DecisionEntry
  const { title = firstUserLine(main), cwd = "", model = "unknown", format, report } = imported
  const messages = [...side, ...main].map((message) =>
    message.type === "user" ? { ...message, isImported: true as const } : message,
  )
  return [
    ...importedEntries(imported, { messages, conversation: target.id, now }),
    decide("session", {
      ...{ subtype: "session", model, cwd },
      ...(cwd === "" ? {} : { origin: target.isOwn ? cwd : "" }),
      ...(title === undefined ? {} : { title }),
    }),
    decide("imported", { subtype: "imported", format, source: target.source, report }),
  ]
}

/** Sets the previous message as the parent of each message; for a boundary, as its logical parent. */
function chainMessages(messages: readonly Message[]): readonly Message[] {
  let parentUuid: Uuid | null = null
  return messages.map((message) => {
    const placed: Message = isBoundary(message)
      ? { ...message, parentUuid: null, logicalParentUuid: parentUuid }
      : { ...message, parentUuid }
    parentUuid = message.uuid
    return placed
  })
}
