/**
 * Writes an imported conversation into a journal, so that you can open, inspect and continue it like any other. Messages on the
 * main path are chained in order; abandoned branches stay where they were. Each sub-agent gets a journal under it.
 */

import type { DecisionEntry, Uuid } from "@strata/core"
import type { Clock } from "@strata/core/base"
import { uuidFrom } from "@strata/core/base"
import { firstWords, isBoundary, type Message } from "@strata/core/messages"
import type { Decision, Entry, JournalAddress, Store } from "@strata/core/store"
import { importedEntries } from "./imported-entries.ts"
import type { ImportedConversation } from "./importer.ts"
import { spilledBytes } from "./large-file.ts"
import { mainPath } from "./main-path.ts"

export interface ImportTarget {
  readonly store: Store
  readonly project: string
  readonly clock: Clock
  /** The file it came from, for the record. */
  readonly source: string
  /** The id of the new conversation. */
  readonly id: string
  /** The file is one of the person's own sessions, so the directory that it names counts. */
  readonly isOwn?: boolean
}

const BATCH = 1_000 // entries written at once
const BATCH_BYTES = 4 * 1024 * 1024 // of those that are not in memory

export async function writeImported(imported: ImportedConversation, target: ImportTarget): Promise<void> {
  const { store } = target
  for (const { address, entries } of writingsOf(imported, target)) await write(store, { address, entries })
}

/** Adds what a file has now and the journals do not have yet. */
export async function addImported(imported: ImportedConversation, target: ImportTarget): Promise<void> {
  const { store } = target
  const newest = imported.messages.at(-1)?.uuid ?? ""
  for (const { address, entries } of writingsOf(imported, target)) {
    const known = await uuidsIn(store, address)
    const isNew = ({ uuid }: Entry) => !known.has(uuid)
    // what is known about a conversation is in it already; where it came from is written again, with the new count
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

/** What is written, journal by journal: sub-agents first. */
function writingsOf(imported: ImportedConversation, target: ImportTarget): readonly Writing[] {
  const { project, id } = target
  const writings: Writing[] = []
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
    // its own ids come from its own address: ids of agents are unique only in one conversation
    const entries = entriesOf(own, { ...target, id: `${id}:${agent}` })
    writings.push({ address: { project, id: agent, under: id }, entries })
  }
  return [...writings, { address: { project, id }, entries: entriesOf(imported, target) }]
}

interface Writing {
  readonly address: JournalAddress
  readonly entries: readonly Entry[]
}

async function write(store: Store, { address, entries }: Writing): Promise<void> {
  const journal = await store.open(address, { access: "write", create: true })
  try {
    for (const batch of batchesOf(entries)) await journal.append(batch)
    await journal.sync()
  } finally {
    await journal.close()
  }
}

function* batchesOf(entries: readonly Entry[]): Generator<readonly Entry[]> {
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
  const main = chained(mainPath(imported.messages))
  const onMain = new Map(main.map((message) => [message.uuid, message]))
  // other branches first, so that the newest message is on the main path
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
  const { title = firstWords(main), cwd = "", model = "unknown", format, report } = imported
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

/** Each message gets the one before it as its parent; a boundary gets it as its logical parent. */
function chained(messages: readonly Message[]): readonly Message[] {
  let parentUuid: Uuid | null = null
  return messages.map((message) => {
    const placed: Message = isBoundary(message)
      ? { ...message, parentUuid: null, logicalParentUuid: parentUuid }
      : { ...message, parentUuid }
    parentUuid = message.uuid
    return placed
  })
}
