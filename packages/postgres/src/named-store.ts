/** The store that an address names, for `registerStore` and `STRATA_STORE`: `postgres://me@db/strata?tenant=acme`. */
import type { OpenStoreOptions } from "@strata/core/store"
import { type PostgresStore, type PostgresStoreOptions, postgresStore } from "./postgres-store.ts"

/** In an address, beside what `pg` knows. */
const TENANT = "tenant"

/** What `registerStore` gives does not count here: the clock is the server's, and so is the disk. */
export type NamedStoreOptions = Partial<OpenStoreOptions> &
  Pick<PostgresStoreOptions, "patienceMs" | "timeoutMs" | "onWaiting">

/**
 * Opens the store that an address names. Its tenant may be in it. It waits for the server's disk with every write: the setting `flush` is about
 * the disk of this machine.
 *
 * @example
 * registerStore("postgres", namedPostgresStore)
 */
export const namedPostgresStore = (
  address: string,
  { clock: _, flush: __, ...options }: NamedStoreOptions = {},
): PostgresStore => postgresStore({ ...options, ...parted(address) })

/** An address without a query stays as it is, also one that is no URL. */
function parted(address: string): { readonly connectionString: string; readonly tenant?: string } {
  const [start, query] = splitAt(address, address.indexOf("?"))
  const parameters = new URLSearchParams(query)
  const tenant = parameters.get(TENANT)
  if (tenant === null) return { connectionString: address }
  parameters.delete(TENANT)
  const rest = parameters.toString()
  return { connectionString: rest === "" ? start : `${start}?${rest}`, tenant }
}

const splitAt = (text: string, at: number): readonly [string, string] =>
  at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)]
