/** The store that `STRATA_STORE` names, for a command that only looks: a server that is away is asked once, and not waited for. */
import { type Store, StrataError } from "@strata/core"
import { storeFrom } from "@strata/core/store"
import type { CommandCall } from "../command.ts"
import { isPostgres, loadPostgres } from "../named-store.ts"

/** How long a server may take to answer. */
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

/** What such a command says of a failure. */
export function describeStoreProblem(error: unknown): string {
  const why = error instanceof Error ? error.message : String(error)
  const isAway = error instanceof StrataError && error.code === "store-unreachable"
  return isAway ? `${why} It was asked once, and had ${MAX_SECONDS} seconds to answer.` : why
}
