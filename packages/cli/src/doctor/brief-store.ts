/** Opens the store in `STRATA_STORE` for commands that only read: an unreachable server is tried once, without waiting. */
import { type Store, StrataError } from "@strata/core"
import { storeFrom } from "@strata/core/store"
import type { CommandCall } from "../command.ts"
import { isPostgres, loadPostgres } from "../named-store.ts"

/** Seconds to wait for a server. */
const MAX_SECONDS = 3

export async function openBriefStore(place: {
  readonly dir: string
  readonly env: CommandCall["env"]
}): Promise<Store> {
  const address = place.env.STRATA_STORE?.trim() ?? ""
  if (!isPostgres(address)) return storeFrom(place)
  const { namedPostgresStore } = await loadPostgres()
  return namedPostgresStore(address, { retryTimeoutMs: 0, timeoutMs: 1_000 * MAX_SECONDS })
}

/** Describes a failure of the store. */
export function describeStoreProblem(error: unknown): string {
  const why = error instanceof Error ? error.message : String(error)
  const isAway = error instanceof StrataError && error.code === "store-unreachable"
  return isAway ? `${why} It was asked once, and had ${MAX_SECONDS} seconds to answer.` : why
}
