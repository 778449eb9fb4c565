/** Runs one command to its end. Loads only what that command needs. */
import { enableCompileCache } from "node:module"

export async function start(args: readonly string[]): Promise<void> {
  enableCompileCache() // before anything else loads: it makes every later start faster
  const { strata } = await import("./strata.ts")
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0) // the reader has seen enough: `strata inspect … | head`
    throw error
  })
  process.exitCode = await strata(args)
}
