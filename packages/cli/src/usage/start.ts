/** The part of the program that runs in the worker threads of `strata usage`. It is no command. */
import { isMainThread } from "node:worker_threads"
import { serveLook } from "@strata/page"

export async function start(): Promise<void> {
  if (!isMainThread) return serveLook()
  process.stderr.write('"look-worker" is no command. "strata usage" starts it by itself.\n')
  process.exitCode = 2
}
