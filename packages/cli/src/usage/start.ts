/** Entry point of the worker threads of `strata usage`. Not a command. */
import { isMainThread } from "node:worker_threads"
import { serveUsageWorker } from "@strata/page"

export async function start(): Promise<void> {
  if (!isMainThread) return serveUsageWorker()
  process.stderr.write('"look-worker" is not a command. "strata usage" starts it automatically.\n')
  process.exitCode = 2
}
