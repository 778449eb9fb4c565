/** Runs one command to its end. Loads only what that command needs. */
import { enableCompileCache } from "node:module"
import { guardOutput, leaveScreen } from "./display/output.ts"

const EXIT_FAILED = 1
const UNEXPECTED = "strata failed unexpectedly. The journal keeps what was done before. Please report this:"

export async function start(args: readonly string[]): Promise<void> {
  enableCompileCache() // before anything else loads: it makes every later start faster
  guardOutput()
  process.on("uncaughtException", failUnexpectedly) // Node would print the error as it is, escape sequences included
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0) // the reader has seen enough: `strata inspect … | head`
    leaveScreen()
    process.stderr.write(`strata cannot write its output: ${error.message}. The journal keeps what was done before.\n`)
    process.exit(EXIT_FAILED)
  })
  const { strata } = await import("./strata.ts")
  process.exitCode = await strata(args)
}

/** Gives the terminal back first. */
function failUnexpectedly(error: unknown): void {
  leaveScreen()
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
  process.stderr.write(`${UNEXPECTED}\n${what}\n`)
  process.exit(EXIT_FAILED)
}
