/** `strata archive`. As a hook it only starts itself in the background and loads nothing for that, because Claude Code waits for it. */
import { spawn } from "node:child_process"
import { readArguments } from "../arguments.ts"
import type { Run } from "../command.ts"
import { ARCHIVE } from "../descriptions.ts"

const DONE = 0

export const run: Run = async (call) => {
  if (readArguments(ARCHIVE, call.args).values.hook) return inBackground()
  return (await import("./actions.ts")).run(call)
}

/** Says nothing, whatever happens: Claude Code would show it, or add it to the context. */
function inBackground(): number {
  const child = spawn(process.execPath, [process.argv[1]!, "archive"], { detached: true, stdio: "ignore" })
  child.on("error", () => undefined)
  child.unref()
  return DONE
}
