/**
 * `strata archive`. As a hook, it only starts a copy of itself in the background and loads nothing else, because Claude Code waits for it.
 */
import { spawn } from "node:child_process"
import { readArguments } from "../arguments.ts"
import type { Run } from "../command.ts"
import { ARCHIVE } from "../descriptions.ts"

const DONE = 0

export const run: Run = async (call) => {
  if (readArguments(ARCHIVE, call.args).values.hook) return inBackground()
  return (await import("./actions.ts")).run(call)
}

/** Prints nothing in any case: Claude Code would show the output or add it to the context. */
function inBackground(): number {
  const child = spawn(process.execPath, [process.argv[1]!, "archive"], { detached: true, stdio: "ignore" })
  child.on("error", () => undefined)
  child.unref()
  return DONE
}
