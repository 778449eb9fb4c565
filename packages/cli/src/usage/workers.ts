/** Starts worker threads, which load only the code that reads and replays conversations. */
import { Worker } from "node:worker_threads"

/** Location of the entry file, which differs between sources and the built program. */
const MAIN = import.meta.url.endsWith(".ts") ? "../main.ts" : "./main.js"
const MAX_MEGABYTES = 4_096 // a transcript of 500 MB needs most of it; a worker that exceeds it fails with its file

export const startWorker = (): Worker =>
  new Worker(new URL(MAIN, import.meta.url), {
    argv: ["look-worker"],
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEGABYTES },
  })
