/** The store that options or the environment name. Everything that keeps or reads conversations gets its store here. */
import { type Clock, systemClock } from "../base/clock.ts"
import { StrataError } from "../base/errors.ts"
import { fileStore } from "./file/file-store.ts"
import { defaultRoot } from "./file/layout.ts"
import { memoryStore } from "./in-memory/store.ts"
import type { FlushMode, Store } from "./store.ts"

export interface StoreChoice {
  /** Given in code. It comes first. */
  readonly store?: Store | undefined
  /** The root of the files. Default: `STRATA_HOME`, else `.strata` in the home directory. */
  readonly dir?: string | undefined
  /** `STRATA_STORE` names a store: `memory:` for one that lasts as long as the process. Default: files under the root. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly flush?: FlushMode
  readonly clock?: Clock
}

/** By root and name: those that `STRATA_STORE` has named in this process. */
const inMemory = new Map<string, Store>()

export function storeFrom({ store, dir, env, flush, clock = systemClock }: StoreChoice): Store {
  if (store) return store
  const root = dir ?? defaultRoot(env)
  const named = env.STRATA_STORE?.trim() ?? ""
  if (named === "") return fileStore({ root, clock, ...(flush ? { flush } : {}) })
  const [, scheme = ""] = /^([a-z][a-z0-9+.-]*):/i.exec(named) ?? []
  if (scheme.toLowerCase() !== "memory") throw unknownStore(scheme)
  const key = `${root}\n${named}`
  const opened = inMemory.get(key) ?? memoryStore({ clock })
  inMemory.set(key, opened)
  return opened
}

/** Only the scheme is shown: an address can have a password in it. */
const unknownStore = (scheme: string) =>
  new StrataError(
    `STRATA_STORE names a store that cannot be opened here${scheme === "" ? "" : ` (${scheme}:)`}. Nothing was opened. Use "memory:", or leave it out to keep files under STRATA_HOME.`,
    { code: "unknown-store" },
  )
