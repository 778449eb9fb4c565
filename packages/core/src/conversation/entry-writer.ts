/**
 * Gives drafts their place behind the newest message, writes them, and lets the views follow: one batch after the other, so that each has
 * its place, also where calls do not wait for one another.
 */
import type { Clock } from "../base/clock.ts"
import type { Ids } from "../base/ids.ts"
import {
  type DecisionDraft,
  type Draft,
  type Entry,
  isBoundaryEntry,
  isDecision,
  isMessage,
} from "../journal/entries.ts"
import type { Journal } from "../journal/store.ts"
import { isHuman, type Message, type Uuid } from "../messages/messages.ts"
import type { Views } from "../views/views.ts"

export interface EntryWriterParts {
  readonly journal: Journal
  readonly clock: Clock
  readonly ids: Ids
  readonly views: () => Views
  /** What listing and resuming need. It follows the first message of a person, and every boundary. */
  readonly sessionFacts: () => DecisionDraft
  readonly onWritten: (entry: Entry) => void
}

export class EntryWriter {
  readonly #parts: EntryWriterParts
  #last: Promise<unknown> = Promise.resolve()

  constructor(parts: EntryWriterParts) {
    this.#parts = parts
  }

  /**
   * Resolves with the entries as they stand in the journal. `seen`: the views they were decided by; where the conversation has gone back
   * since, they belong to the branch that was left.
   */
  append(drafts: readonly Draft[], seen?: Views): Promise<readonly Entry[]> {
    return this.#inOrder(() => this.#append(drafts, seen ?? this.#parts.views()))
  }

  /** Goes back to an earlier place of the journal. Whatever is appended meanwhile waits until the views have followed. */
  rewind(to: Uuid, follow: () => Promise<void>): Promise<void> {
    return this.#inOrder(async () => {
      await this.#write([this.place({ type: "strata", subtype: "rewound" }, to)])
      await follow()
    })
  }

  place(draft: Draft, parent: Uuid | null): Entry {
    const timestamp = this.#parts.clock.now().toISOString()
    const uuid = this.#parts.ids.uuid()
    if (draft.type === "strata") return { ...draft, uuid, parentUuid: parent, timestamp } as Entry
    const placed = { timestamp, ...draft, uuid: draft.uuid ?? uuid, sessionId: this.#parts.journal.address.id }
    const isBoundary = draft.type === "system" && draft.subtype === "compact_boundary"
    return (
      isBoundary ? { ...placed, parentUuid: null, logicalParentUuid: parent } : { ...placed, parentUuid: parent }
    ) as Message
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#last.then(work)
    this.#last = run.catch(() => undefined)
    return run
  }

  async #append(drafts: readonly Draft[], seen: Views): Promise<readonly Entry[]> {
    if (drafts.length === 0) return []
    let parent = seen.context.newest?.uuid ?? null
    const onPath = seen === this.#parts.views() || parent === null || this.#isInView(parent)
    let isListed = seen.context.session !== undefined
    const placed: Entry[] = []
    const entries: Entry[] = []
    for (const draft of drafts) {
      const entry = this.place(draft, parent)
      placed.push(entry)
      entries.push(entry)
      if (!isDecision(entry)) parent = entry.uuid
      // in the same write as the first message, so that a conversation is listed even if its process dies before the first request
      if (isBoundaryEntry(entry) || (!isListed && isMessage(entry) && isHuman(entry))) {
        entries.push(this.place(this.#parts.sessionFacts(), parent))
        isListed = true
      }
    }
    await this.#write(entries, onPath)
    return placed
  }

  #isInView(uuid: Uuid): boolean {
    const { context } = this.#parts.views()
    return context.newest?.uuid === uuid || context.storedMessages().some((message) => message.uuid === uuid)
  }

  async #write(entries: readonly Entry[], onPath = true): Promise<void> {
    const { journal, views, onWritten } = this.#parts
    await journal.append(entries)
    // all of it at once: nobody may find a boundary without the summary behind it
    const checkpoints = entries.flatMap((entry) => {
      views().apply(entry, onPath)
      return isBoundaryEntry(entry) ? [views().checkpoint(entry.uuid)] : []
    })
    for (const entry of entries) onWritten(entry)
    // it only saves time at the next opening: one that cannot be written is no failure
    for (const checkpoint of checkpoints) await journal.writeCheckpoint(checkpoint).catch(() => undefined)
  }
}
