/** Registers network stores for `STRATA_STORE`. The package of a store loads only if its scheme is used. */

import type { Store } from "@strata/core"
import type { OpenStoreOptions } from "@strata/core/store"
import type { CommandCall } from "./command.ts"
import { storeWaits } from "./store-waiting.ts"

const POSTGRES = /^\s*(postgres(?:ql)?):/i

type NamedStoreOptions = OpenStoreOptions & { readonly onWaiting: (isWaiting: boolean) => void }

export interface PostgresPackage {
  namedPostgresStore(address: string, options: NamedStoreOptions): Store
}

export const isPostgres = (address: string): boolean => POSTGRES.test(address)

/** Loads the package with its administrative functions, for the commands that maintain the tables. */
export const loadPostgres = () => import("@strata/postgres").catch(refuse)

/** Must be called before a command opens its store. */
export async function registerNamedStore(
  { STRATA_STORE: address = "" }: CommandCall["env"],
  load: () => Promise<PostgresPackage> = () => import("@strata/postgres"),
): Promise<void> {
  if (!POSTGRES.test(address)) return
  const { namedPostgresStore } = await load().catch(refuse)
  const { registerStore } = await import("@strata/core/store")
  for (const scheme of ["postgres", "postgresql"])
    registerStore(scheme, (named, options) => namedPostgresStore(named, { ...options, onWaiting: storeWaits }))
}

function refuse(error: unknown): never {
  const why = error instanceof Error ? ` (${(error as NodeJS.ErrnoException).code ?? error.name})` : ""
  throw new Error(
    `The address is a PostgreSQL store, but its package could not be loaded${why}. Nothing was opened. Install it next to strata: npm install @strata/postgres pg`,
  )
}
