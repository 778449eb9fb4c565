/** The store at an address, for `registerStore` and `STRATA_STORE`: `postgres://me@db/strata?tenant=acme`. */
import type { OpenStoreOptions } from "@strata/core/store"
import { type PostgresStore, type PostgresStoreOptions, postgresStore } from "./postgres-store.ts"

/** A parameter of addresses, in addition to those of `pg`. */
const TENANT = "tenant"

/** Clock and flush mode of `registerStore` are ignored: both are the server's. */
export type NamedStoreOptions = Partial<OpenStoreOptions> &
  Pick<PostgresStoreOptions, "retryTimeoutMs" | "timeoutMs" | "onWaiting">

/**
 * Opens the store at an address, which may name the tenant. Every write waits for the server's disk, because the setting `flush` is about
 * the disk of this machine.
 *
 * @example
 * registerStore("postgres", namedPostgresStore)
 */
export const namedPostgresStore = (
  address: string,
  { clock: _, flush: __, ...options }: NamedStoreOptions = {},
): PostgresStore => postgresStore({ ...options, ...parseAddress(address) })

/** Addresses without a query are returned unchanged, even if they are not URLs. */
function parseAddress(address: string): { readonly connectionString: string; readonly tenant?: string } {
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
