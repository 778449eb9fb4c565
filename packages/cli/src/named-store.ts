/** Stores across a network that `STRATA_STORE` can name. The package of one loads only when its scheme is named. */

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

/** With everything that it has: for the commands that care for the tables. */
export const loadPostgres = () => import("@strata/postgres").catch(refuse)

/** To be called before a command asks for its store. */
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
    `The address names a PostgreSQL store, and what opens it could not be loaded${why}. Nothing was opened. Install it beside strata: npm install @strata/postgres pg`,
  )
}
