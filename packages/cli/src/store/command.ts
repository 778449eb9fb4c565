/** `strata store`: migrations, retention and erasure. */
import { readArguments } from "../arguments.ts"
import { type Run, UsageError } from "../command.ts"
import { STORE } from "./descriptions.ts"

const ACTIONS = ["migrate", "status", "prune", "erase"] as const

export const run: Run = async (call) => {
  const { values, operands } = readArguments(STORE, call.args)
  const action = ACTIONS.find((name) => name === operands[0])
  switch (action) {
    case "migrate":
    case "status": {
      const { migrateTables, tablesStatus } = await import("./tables.ts")
      return action === "migrate" ? migrateTables(call, values) : tablesStatus(call, values)
    }
    case "prune": {
      const { prune } = await import("./prune.ts")
      return prune(call, {
        olderThan: values["older-than"],
        largerThan: values["larger-than"],
        dryRun: values["dry-run"],
        json: values.json,
      })
    }
    case "erase":
      return (await import("./erase.ts")).erase(call, values)
    case undefined:
      throw new UsageError(`Say what to do: strata store ${ACTIONS.join(", ")}.`)
  }
}
