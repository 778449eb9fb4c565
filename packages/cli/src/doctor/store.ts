/** Whether the store that `STRATA_STORE` names answers. */
import { strataDirectory } from "@strata/core"
import type { Call } from "../command.ts"
import { briefProblem, briefStore } from "./brief-store.ts"
import { type Check, ok, problem } from "./check.ts"

/** Nothing where files are kept: their disk is checked. */
export async function checkStore(env: Call["env"]): Promise<readonly Check[]> {
  if (!env.STRATA_STORE?.trim()) return []
  try {
    const store = await briefStore({ dir: strataDirectory(env), env })
    await store.projects()
    return [ok("store", `${store.description} answers`)]
  } catch (error) {
    return [problem("store", briefProblem(error))]
  }
}
