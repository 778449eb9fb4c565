/**
 * Writes an imported conversation into a journal, so that you can open, inspect and continue it like any other. Messages on the
 * main path are chained in order; abandoned branches stay where they were.
 */
import type { Clock } from "../base/clock.ts"
import { uuidFrom } from "../base/ids.ts"
import type { Decision, DecisionEntry, Entry } from "../journal/entries.ts"
import type { Store } from "../journal/store.ts"
import { isBoundary, type Message, type Uuid } from "../messages/messages.ts"
import type { ImportedConversation } from "./importer.ts"
import { mainPath } from "./main-path.ts"

export interface ImportTarget {
  readonly store: Store
  readonly project: string
  readonly clock: Clock
  /** The file it came from, for the record. */
  readonly source: string
  /** The id of the new conversation. */
  readonly id: string
}

const BATCH = 1_000 // entries written at once

export async function writeImported(imported: ImportedConversation, target: ImportTarget): Promise<void> {
  const { store, project, id } = target
  const journal = await store.open({ project, id }, { access: "write", create: true })
  try {
    const entries = entriesOf(imported, target)
    for (let at = 0; at < entries.length; at += BATCH) await journal.append(entries.slice(at, at + BATCH))
    await journal.sync()
  } finally {
    await journal.close()
  }
}

function entriesOf(imported: ImportedConversation, target: ImportTarget): readonly Entry[] {
  const main = chained(mainPath(imported.messages))
  const onMain = new Map(main.map((message) => [message.uuid, message]))
  // other branches first, so that the newest message is on the main path
  const side = imported.messages.filter(({ uuid }) => !onMain.has(uuid))
  const newest = main.at(-1)?.uuid ?? null
  const decide = (name: string, decision: Decision): DecisionEntry =>
    ({
      type: "strata",
      uuid: uuidFrom(`${target.id}:${name}`),
      parentUuid: newest,
      timestamp: target.clock.now().toISOString(),
      ...decision,
    }) as DecisionEntry
  const { title, cwd = "", model = "unknown", format, report } = imported
  return [
    ...side,
    ...main,
    decide("session", { subtype: "session", model, cwd, ...(title === undefined ? {} : { title }) }),
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
