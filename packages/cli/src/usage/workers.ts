/** Worker threads of this program: they load only the part that reads and replays conversations. */
import { Worker } from "node:worker_threads"

/** In the sources, and beside the other parts in the built program. */
const MAIN = import.meta.url.endsWith(".ts") ? "../main.ts" : "./main.js"
const MAX_MEGABYTES = 4_096 // one transcript of 500 MB needs most of it; a worker that needs more ends with its file

export const startWorker = (): Worker =>
  new Worker(new URL(MAIN, import.meta.url), {
    argv: ["look-worker"],
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEGABYTES },
  })
