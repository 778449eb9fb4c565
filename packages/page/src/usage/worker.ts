/** The tasks of a worker thread: reading files and replaying conversations, one at a time. */
import { setPriority } from "node:os"
import { parentPort } from "node:worker_threads"
import { type FileToRead, readFileForIndex } from "./read-files.ts"
import { type ConversationToReplay, type ReplayedFile, replayForIndex } from "./replay-file.ts"
import type { ReadFile } from "./usage-index.ts"

export type Task =
  | ({ readonly kind: "read" } & FileToRead)
  | ({ readonly kind: "replay" /** Runs at low priority. */; readonly isInBackground: boolean } & ConversationToReplay)

export type TaskResult<T extends Task = Task> = T extends { readonly kind: "read" } ? ReadFile : ReplayedFile

export const performTask = (task: Task): Promise<ReadFile | ReplayedFile> =>
  task.kind === "read" ? readFileForIndex(task) : replayForIndex(task)

const LOW_PRIORITY = 10

/** Processes tasks of the parent thread. Call it in a worker. */
export function serveUsageWorker(): void {
  const port = parentPort
  if (!port) throw new Error("serveUsageWorker runs in a worker thread. Start one with this module.")
  port.on("message", async (task: Task) => {
    // on Linux this affects the calling thread only; elsewhere it would slow down the whole process
    if (task.kind === "replay" && task.isInBackground && process.platform === "linux") setPriority(LOW_PRIORITY)
    port.postMessage(await performTask(task))
  })
}
