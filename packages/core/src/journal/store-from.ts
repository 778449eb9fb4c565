/** Resolves the store that options or the environment name. All code that reads or writes conversations gets its store here. */
import { type Clock, systemClock } from "../base/clock.ts"
import { StrataError } from "../base/errors.ts"
import { fileStore } from "./file/file-store.ts"
import { strataDirectory } from "./file/layout.ts"
import { memoryStore } from "./in-memory/store.ts"
import type { FlushMode, Store } from "./store.ts"

export interface StoreSelection {
  /** A store given in code. It takes precedence. */
  readonly store?: Store | undefined
  /** The root directory of the files. Default: `STRATA_HOME`, else `.strata` in the home directory. */
  readonly dir?: string | undefined
  /**
   * `STRATA_STORE` names a store: `memory:` for one that lasts as long as the process, or an address with a registered scheme. Default:
   * files under the root.
   */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly flush?: FlushMode
  readonly clock?: Clock
}

/** Options for opening a registered store. */
export interface OpenStoreOptions {
  readonly clock: Clock
  /** What must survive a power cut, if the caller sets it. Default: decided by the store. */
  readonly flush?: FlushMode
}

/** Opens the store with this address, such as `postgres://…`. It connects on first use. */
export type OpenStore = (address: string, options: OpenStoreOptions) => Store

interface StoreRegistry {
  readonly opened: Map<string, Store>
  readonly schemes: Map<string, OpenStore>
}

/** Shared by the process rather than this module, so that packages with a bundled copy see what others registered. */
const REGISTRY = Symbol.for("@strata/core stores")
const shared = globalThis as { [REGISTRY]?: StoreRegistry }

function registry(): StoreRegistry {
  shared[REGISTRY] ??= { opened: new Map(), schemes: new Map() }
  return shared[REGISTRY]
}

/**
 * Registers a scheme, so that `STRATA_STORE` may name addresses with it. A process opens an address once (per flush mode) and never closes
 * the store: its connections must not keep the process alive.
 *
 * @example
 * registerStore("redis", (address, { clock }) => redisStore({ address, clock }))
 */
export function registerStore(scheme: string, open: OpenStore): void {
  registry().schemes.set(scheme.toLowerCase(), open)
}

export function storeFrom({ store, dir, env, flush, clock = systemClock }: StoreSelection): Store {
  if (store) return store
  const root = dir ?? strataDirectory(env)
  const address = env.STRATA_STORE?.trim() ?? ""
  if (address === "") return fileStore({ root, clock, ...(flush ? { flush } : {}) })
  const [, scheme = ""] = /^([a-z][a-z0-9+.-]*):/i.exec(address) ?? []
  const { opened, schemes } = registry()
  const open = schemes.get(scheme.toLowerCase())
  const isMemory = scheme.toLowerCase() === "memory"
  if (!open && !isMemory) throw unknownStoreError(scheme, [...schemes.keys()])
  const key = `${open ? (flush ?? "") : root}\n${address}`
  // without a flush mode, an open store with any mode is used, because each has connections of its own
  const any = open && !flush ? [...opened].find(([one]) => one.endsWith(`\n${address}`))?.[1] : undefined
  const found =
    opened.get(key) ?? any ?? (open ? open(address, { clock, ...(flush ? { flush } : {}) }) : memoryStore({ clock }))
  opened.set(key, found)
  return found
}

/** Shows only the scheme, because an address can contain a password. PostgreSQL is named because the program registers it by default. */
function unknownStoreError(scheme: string, registered: readonly string[]): StrataError {
  const others = registered.filter((one) => !POSTGRES.includes(one)).map((one) => `${one}:`)
  const usable = ["postgres://user@host/database", "memory:", ...others].join(" or ")
  return new StrataError(
    `STRATA_STORE names a store that cannot be opened here${scheme === "" ? "" : ` (${scheme}:)`}. Nothing was opened. Use ${usable}. For files in a directory, leave it out and set STRATA_HOME to the directory. In code, registerStore adds stores, also postgres: with namedPostgresStore of @strata/postgres.`,
    { code: "unknown-store" },
  )
}

const POSTGRES: readonly string[] = ["postgres", "postgresql"]
