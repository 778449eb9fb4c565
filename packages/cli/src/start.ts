/** Runs a command and reports unexpected failures. */
import { guardOutput, leaveScreen } from "./display/output.ts"

const EXIT_FAILED = 1
const UNEXPECTED = "strata failed unexpectedly. Everything before is in the journal. Please report this:"

/** Runs the command; `run` resolves with the exit code. */
export async function startWith(
  run: (args: readonly string[]) => Promise<number>,
  args: readonly string[],
): Promise<void> {
  guardOutput()
  process.on("uncaughtException", failUnexpectedly) // Node would print the error with its escape sequences
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0) // the reader has seen enough: `strata inspect … | head`
    leaveScreen()
    process.stderr.write(`strata cannot write its output: ${error.message}. Everything before is in the journal.\n`)
    process.exit(EXIT_FAILED)
  })
  process.exitCode = await run(args)
}

/** Restores the terminal, then reports the error. */
function failUnexpectedly(error: unknown): void {
  leaveScreen()
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
  process.stderr.write(`${UNEXPECTED}\n${what}\n`)
  process.exit(EXIT_FAILED)
}
