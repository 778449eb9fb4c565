/** What several users in this process share: opened with the first, closed with the last. */
export class Shared<T extends { close(): void }> {
  readonly #open = new Map<string, { readonly value: T; users: number }>()

  use(key: string, open: () => T): { readonly value: T; close(): void } {
    const one = this.#open.get(key) ?? { value: open(), users: 0 }
    this.#open.set(key, one)
    one.users++
    let isClosed = false
    return {
      value: one.value,
      close: () => {
        if (isClosed) return
        isClosed = true
        if (--one.users > 0) return
        this.#open.delete(key)
        one.value.close()
      },
    }
  }
}
