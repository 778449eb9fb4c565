/**
 * One session in one journal. Reading continues where it last ended, so a turn costs only the new items. Each change is an entry; removed
 * items stay in the journal.
 */

import { hash } from "node:crypto"
import { StrataError } from "@strata/core"
import { canonicalJson } from "@strata/core/messages"
import { enqueue, type JournalLocation, writeExclusively } from "../external/exclusive-write.ts"
import { type EntrySources, type ExternalEntry, externalEntry, readFrom } from "../external/lines.ts"
import type { HistoryTransaction, HistoryTransactionArgs } from "./shapes.ts"

// The items of a session, reduced from the entries in its journal.

/** An item, and the id of its entry. */
export interface SessionItem {
  readonly entry: string
  readonly item: unknown
}

export class SessionItems {
  #items: SessionItem[] = []
  /** Checksums of changes by their operation id. */
  readonly #operations = new Map<string, string>()

  get all(): readonly SessionItem[] {
    return this.#items
  }

  /** Checksum of the change with this operation id. */
  operation(id: string): string | undefined {
    return this.#operations.get(id)
  }

  take(entry: ExternalEntry): void {
    if (entry.subtype === "foreign-line") this.#items.push({ entry: entry.uuid, item: entry.line })
    else this.#change(entry)
  }

  #change({ removed, operation }: Extract<ExternalEntry, { readonly subtype: "foreign-change" }>): void {
    if (removed === "all") {
      this.#items = []
      this.#operations.clear()
    } else if (removed.length > 0) {
      const removedIds = new Set(removed)
      this.#items = this.#items.filter(({ entry }) => !removedIds.has(entry))
    }
    if (operation) this.#operations.set(operation.id, operation.sum)
  }
}

type ItemDraft = Parameters<typeof externalEntry>[0]

export class JournaledSession {
  readonly #place: JournalLocation
  readonly #sources: EntrySources
  #items = new SessionItems()
  /** Offset and entry id of the last line that was read. */
  #last: { readonly offset: number; readonly entry: string | undefined } | undefined

  constructor(place: JournalLocation, sources: EntrySources) {
    this.#place = place
    this.#sources = sources
  }

  items(): Promise<readonly SessionItem[]> {
    return enqueue(this.#place, () => this.#read())
  }

  add(items: readonly unknown[]): Promise<void> {
    const drafts = linesOf(items)
    return this.#write(async () => drafts)
  }

  /** Removes and returns the newest item, if there is one. */
  async pop(): Promise<SessionItem | undefined> {
    if ((await this.items()).length === 0) return undefined
    let popped: SessionItem | undefined
    await this.#write(async () => {
      popped = (await this.#read()).at(-1)
      return popped ? [{ subtype: "foreign-change", removed: [popped.entry] }] : []
    })
    return popped
  }

  async clear(): Promise<void> {
    if ((await this.items()).length > 0) await this.replaceAll([])
  }

  replaceAll(items: readonly unknown[]): Promise<void> {
    const drafts: readonly ItemDraft[] = [{ subtype: "foreign-change", removed: "all" }, ...linesOf(items)]
    return this.#write(async () => drafts)
  }

  /** Throws and changes nothing if the operation id was used for another change, or if the newest items are not the expected ones. */
  transact({ operationId: id, transaction }: HistoryTransactionArgs): Promise<void> {
    if (typeof id !== "string" || id.trim() === "") throw refuseChange("its operationId is empty")
    const sum = sumOf(transaction)
    return this.#write(async () => {
      const kept = await this.#read()
      const done = this.#items.operation(id)
      if (done === sum) return []
      if (done !== undefined) throw refuseChange("its operationId was used for another one")
      const removed = itemsToReplace(transaction, kept).map(({ entry }) => entry)
      const added = transaction.type === "append_items" ? transaction.items : transaction.replacement
      return [{ subtype: "foreign-change", removed, operation: { id, sum } }, ...linesOf(added)]
    })
  }

  /** Writes all of the entries, or none. */
  #write(plan: () => Promise<readonly ItemDraft[]>): Promise<void> {
    return enqueue(this.#place, () =>
      writeExclusively(this.#place, async (journal) => {
        const entries = (await plan()).map((draft) => externalEntry(draft, this.#sources))
        if (entries.length > 0) await journal.append(entries, { endsTurn: true })
      }),
    )
  }

  /**
   * Reads from the last known line on. If that line is missing, the journal was erased and possibly created again. If the new part contains
   * an unreadable line, a failed write has been truncated since. In both cases everything is read again.
   */
  async #read(): Promise<readonly SessionItem[]> {
    const known = this.#last
    let isThere = known === undefined
    for await (const { entry, offset } of readFrom(this.#place, known?.offset ?? 0)) {
      if (!isThere) {
        if (entry?.uuid !== known?.entry) break
        isThere = true
        continue
      }
      if (!entry && known) return this.#readAgain()
      if (entry) this.#items.take(entry)
      this.#last = { offset, entry: entry?.uuid }
    }
    return isThere ? this.#items.all : this.#readAgain()
  }

  #readAgain(): Promise<readonly SessionItem[]> {
    this.#items = new SessionItems()
    this.#last = undefined
    return this.#read()
  }
}

const linesOf = (items: readonly unknown[]): readonly ItemDraft[] =>
  items.map((line) => ({ subtype: "foreign-line", line }))

/** The items that a change removes. */
function itemsToReplace(change: HistoryTransaction, kept: readonly SessionItem[]): readonly SessionItem[] {
  if (change.type === "append_items" || change.expectedSuffix.length === 0) return []
  const end = kept.slice(-change.expectedSuffix.length)
  if (sumOf(end.map(({ item }) => item)) !== sumOf(change.expectedSuffix))
    throw refuseChange("the newest items are not those that it replaces")
  return end
}

/** Independent of the order of an object's fields. */
const sumOf = (value: unknown): string => hash("sha256", canonicalJson(value), "hex")

const refuseChange = (why: string) =>
  new StrataError(`The change to the session was refused: ${why}. Nothing was changed. Read the items again.`, {
    code: "session-change-refused",
  })
