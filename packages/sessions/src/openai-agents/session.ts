/**
 * One session in one journal. Items are read from where the last reading ended, so a turn costs what is new. A change is one entry: what it
 * takes back stays in the journal.
 */

import { hash } from "node:crypto"
import { StrataError } from "@strata/core"
import { jsonInOrder } from "@strata/core/messages"
import { type ExternalEntry, externalEntry, readFrom, type Sources } from "../foreign/lines.ts"
import { inTurn, type Place, writeAlone } from "../foreign/write-alone.ts"
import type { HistoryTransaction, HistoryTransactionArgs } from "./shapes.ts"

// The items of a session as its journal has them: a fold over the entries that another program keeps there.

/** An item, and the entry that brought it. */
export interface KeptItem {
  readonly entry: string
  readonly item: unknown
}

export class Items {
  #items: KeptItem[] = []
  /** Changes that were made under a name of the program's own: what was asked for, as a checksum. */
  readonly #operations = new Map<string, string>()

  get all(): readonly KeptItem[] {
    return this.#items
  }

  /** What was asked for under this name. */
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
      const gone = new Set(removed)
      this.#items = this.#items.filter(({ entry }) => !gone.has(entry))
    }
    if (operation) this.#operations.set(operation.id, operation.sum)
  }
}

type Draft = Parameters<typeof externalEntry>[0]

export class JournaledSession {
  readonly #place: Place
  readonly #sources: Sources
  #items = new Items()
  /** The last line that was read: where it begins, and its entry. */
  #last: { readonly offset: number; readonly entry: string | undefined } | undefined

  constructor(place: Place, sources: Sources) {
    this.#place = place
    this.#sources = sources
  }

  items(): Promise<readonly KeptItem[]> {
    return inTurn(this.#place, () => this.#read())
  }

  add(items: readonly unknown[]): Promise<void> {
    const drafts = linesOf(items)
    return this.#write(async () => drafts)
  }

  /** The newest item, if there is one. */
  async pop(): Promise<KeptItem | undefined> {
    if ((await this.items()).length === 0) return undefined
    let popped: KeptItem | undefined
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
    const drafts: readonly Draft[] = [{ subtype: "foreign-change", removed: "all" }, ...linesOf(items)]
    return this.#write(async () => drafts)
  }

  /** Throws, and changes nothing, if the name was used for something else, or if the items are not those that it expects. */
  transact({ operationId: id, transaction }: HistoryTransactionArgs): Promise<void> {
    if (typeof id !== "string" || id.trim() === "") throw refused("its operationId is empty")
    const sum = sumOf(transaction)
    return this.#write(async () => {
      const kept = await this.#read()
      const done = this.#items.operation(id)
      if (done === sum) return []
      if (done !== undefined) throw refused("its operationId was used for another one")
      const removed = replacedBy(transaction, kept).map(({ entry }) => entry)
      const added = transaction.type === "append_items" ? transaction.items : transaction.replacement
      return [{ subtype: "foreign-change", removed, operation: { id, sum } }, ...linesOf(added)]
    })
  }

  /** All of the entries, or none. */
  #write(plan: () => Promise<readonly Draft[]>): Promise<void> {
    return inTurn(this.#place, () =>
      writeAlone(this.#place, async (journal) => {
        const entries = (await plan()).map((draft) => externalEntry(draft, this.#sources))
        if (entries.length > 0) await journal.append(entries, { endsTurn: true })
      }),
    )
  }

  /**
   * From the last line on that is known. Where it is no longer there, the journal was erased, and may be another one now. Where the new part is
   * not made of whole lines, a failed write was cut off since. Then all is read again.
   */
  async #read(): Promise<readonly KeptItem[]> {
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

  #readAgain(): Promise<readonly KeptItem[]> {
    this.#items = new Items()
    this.#last = undefined
    return this.#read()
  }
}

const linesOf = (items: readonly unknown[]): readonly Draft[] =>
  items.map((line) => ({ subtype: "foreign-line", line }))

/** The items that a change takes back. */
function replacedBy(change: HistoryTransaction, kept: readonly KeptItem[]): readonly KeptItem[] {
  if (change.type === "append_items" || change.expectedSuffix.length === 0) return []
  const end = kept.slice(-change.expectedSuffix.length)
  if (sumOf(end.map(({ item }) => item)) !== sumOf(change.expectedSuffix))
    throw refused("the newest items are not those that it replaces")
  return end
}

/** The order of an object's fields does not count. */
const sumOf = (value: unknown): string => hash("sha256", jsonInOrder(value), "hex")

const refused = (why: string) =>
  new StrataError(`The change to the session was refused: ${why}. Nothing was changed. Read the items again.`, {
    code: "session-change-refused",
  })
