/** Runs one command of this process to its end, and says so if it fails in a way that no one expected. */
import { guardOutput, leaveScreen } from "./display/output.ts"

const EXIT_FAILED = 1
const UNEXPECTED = "strata failed unexpectedly. The journal keeps what was done before. Please report this:"

/** `run` resolves with the exit code. */
export async function startWith(
  run: (args: readonly string[]) => Promise<number>,
  args: readonly string[],
): Promise<void> {
  guardOutput()
  process.on("uncaughtException", failUnexpectedly) // Node would print the error as it is, escape sequences included
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0) // the reader has seen enough: `strata inspect … | head`
    leaveScreen()
    process.stderr.write(`strata cannot write its output: ${error.message}. The journal keeps what was done before.\n`)
    process.exit(EXIT_FAILED)
  })
  process.exitCode = await run(args)
}

/** Gives the terminal back first. */
function failUnexpectedly(error: unknown): void {
  leaveScreen()
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
  process.stderr.write(`${UNEXPECTED}\n${what}\n`)
  process.exit(EXIT_FAILED)
}
