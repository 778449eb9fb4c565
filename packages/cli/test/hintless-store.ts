/**
 * The file store without any information about its file paths, in a directory that the program does not know. Code that works with it uses
 * only the store interface, as with a network store, and other processes see the same data.
 */

import type { Store } from "@strata/core"
import { type Journal, type JournalFeed, type MemoryFiles, registerStore } from "@strata/core/store"
import { fileStore } from "../../core/src/journal/file/file-store.ts"

/** `STRATA_STORE` names a directory: `hintless:/tmp/x`. */
export const HINTLESS = "hintless"

export const registerHintless = (): void =>
  registerStore(HINTLESS, (address, { clock, flush }) =>
    hintless(fileStore({ root: address.slice(HINTLESS.length + 1), clock, ...(flush ? { flush } : {}) })),
  )

export function hintless(store: Store): Store {
  return changed(store, {
    description: HINTLESS,
    open: async (...given) => {
      const journal = await store.open(...given)
      const { project, id, under } = journal.address
      return changed<Journal>(journal, {
        location: `${HINTLESS}:${[project, ...(under === undefined ? [] : [under]), id].join("/")}`,
        file: undefined,
        notesPath: undefined,
        writeBlob: async (name, data) => ({ location: name, bytes: (await journal.writeBlob(name, data)).bytes }),
      })
    },
    writerOf: async (address) => withoutPath(await store.writerOf(address)),
    memories: (place) => changed<MemoryFiles>(store.memories(place), { directory: undefined, location: HINTLESS }),
    feed: (place) => changed<JournalFeed>(store.feed(place), { directory: undefined }),
  })
}

function withoutPath<H extends { readonly path?: string }>(holder: H | undefined): Omit<H, "path"> | undefined {
  if (!holder) return undefined
  const { path: _path, ...rest } = holder
  return rest
}

type Changes<T> = { readonly [K in keyof T]?: T[K] | undefined }

/** Wraps an object. Methods stay bound to it, because a journal has private state. */
function changed<T extends object>(target: T, changes: Changes<T>): T {
  return new Proxy(target, {
    get(_, key) {
      if (Object.hasOwn(changes, key)) return changes[key as keyof T]
      const value = Reflect.get(target, key, target) as unknown
      return typeof value === "function" ? value.bind(target) : value
    },
    has: (_, key) => (Object.hasOwn(changes, key) ? changes[key as keyof T] !== undefined : key in target),
  })
}
