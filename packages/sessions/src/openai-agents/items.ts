/** The items of a session as its journal has them: a fold over the entries that another program keeps there. */
import type { ForeignEntry } from "../foreign/lines.ts"

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

  take(entry: ForeignEntry): void {
    if (entry.subtype === "foreign-line") this.#items.push({ entry: entry.uuid, item: entry.line })
    else this.#change(entry)
  }

  #change({ removed, operation }: Extract<ForeignEntry, { readonly subtype: "foreign-change" }>): void {
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
