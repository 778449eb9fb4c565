/** `strata sim`: passes the arguments to the simulator's own command. */
import type { Run } from "./command.ts"

export const run: Run = async ({ args }) => {
  process.argv.splice(2, process.argv.length, ...args)
  await import("@strata/sim/command")
  return Number(process.exitCode ?? 0)
}
