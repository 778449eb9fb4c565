/** The wrapped command: it has this process's terminal, its signals and its exit code. */
import { spawn } from "node:child_process"
import { constants } from "node:os"
import type { Call } from "../command.ts"

const NOT_FOUND = 127 // as shells say it
const NOT_STARTED = 126
const KILLED = 128 // plus the signal's number

/** The terminal sends these to the command itself. Sent twice, Ctrl-C would end more than it should. */
const FROM_TERMINAL: readonly NodeJS.Signals[] = ["SIGINT", "SIGQUIT"]
const PASSED_ON: readonly NodeJS.Signals[] = ["SIGTERM", "SIGHUP", "SIGUSR2", ...FROM_TERMINAL]

export interface ChildOptions extends Pick<Call, "cwd" | "env" | "terminal"> {
  readonly hasTerminal: boolean
}

/** Its exit code. */
export function runChild(
  [program, ...args]: readonly [string, ...string[]],
  { cwd, env, terminal, hasTerminal }: ChildOptions,
): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env: env as NodeJS.ProcessEnv, stdio: "inherit" })
    const listeners = PASSED_ON.map((signal) => {
      const isPassed = !hasTerminal || !FROM_TERMINAL.includes(signal)
      const listener = () => void (isPassed && child.kill(signal))
      process.on(signal, listener)
      return () => process.off(signal, listener)
    })
    const end = (code: number) => {
      for (const stop of listeners) stop()
      resolve(code)
    }
    child.once("error", (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === "ENOENT"
      const why = isMissing ? "it is not on the PATH" : error.message
      terminal.complain(`${program} was not started: ${why}. Nothing was changed.\n`)
      end(isMissing ? NOT_FOUND : NOT_STARTED)
    })
    child.once("close", (code, signal) => end(code ?? KILLED + (signal ? constants.signals[signal] : 0)))
  })
}
