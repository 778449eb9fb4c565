interface Closable {
  close(): void
  /** It stays open without a user: it does no work until it is used again. */
  rest?(): void
}

/** What several users in this process share: opened with the first, closed with the last. */
export class Shared<T extends Closable> {
  readonly #open = new Map<string, { readonly value: T; users: number }>()
  /** Without users and still open, the last used at the end. */
  readonly #idle = new Map<string, T>()
  readonly #mostIdle: number

  /** `mostIdle`: how many stay open without a user, because opening them takes long. Default: none. */
  constructor({ mostIdle = 0 }: { readonly mostIdle?: number } = {}) {
    this.#mostIdle = mostIdle
  }

  use(key: string, open: () => T): { readonly value: T; close(): void } {
    const one = this.#open.get(key) ?? { value: this.#idle.get(key) ?? open(), users: 0 }
    this.#idle.delete(key)
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
        this.#idle.set(key, one.value)
        one.value.rest?.()
        this.#closeIdle()
      },
    }
  }

  #closeIdle(): void {
    for (const [key, value] of this.#idle) {
      if (this.#idle.size <= this.#mostIdle) return
      this.#idle.delete(key)
      value.close()
    }
  }
}

/** The same for each object apart, such as a store. What belongs to an object goes with it. */
export class SharedIn<T extends Closable> {
  readonly #all = new WeakMap<object, Shared<T>>()
  readonly #options: { readonly mostIdle?: number }

  constructor(options: { readonly mostIdle?: number } = {}) {
    this.#options = options
  }

  of(owner: object): Shared<T> {
    const shared = this.#all.get(owner) ?? new Shared<T>(this.#options)
    this.#all.set(owner, shared)
    return shared
  }
}
