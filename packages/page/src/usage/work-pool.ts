/** Worker threads that process one task at a time. If a worker dies, only its task fails: a file may be too large for the memory. */
import type { Worker } from "node:worker_threads"
import { performTask, type Task, type TaskResult } from "./worker.ts"

export interface WorkPool {
  run<T extends Task>(task: T): Promise<TaskResult<T>>
  close(): Promise<void>
}

/** Results of tasks whose worker died. */
const DEATH_RESULTS: Readonly<Record<Task["kind"], TaskResult>> = {
  read: { kind: "problem", reason: "too large for the memory" },
  replay: { kind: "cannot" },
}

interface QueuedTask {
  readonly task: Task
  readonly done: (result: TaskResult) => void
}

/** Creates a pool. `start` starts a worker that calls `serveUsageWorker`. If absent, everything runs in this thread. */
export function workPool(start: (() => Worker) | undefined, size: number): WorkPool {
  if (!start)
    return { run: async <T extends Task>(task: T) => (await performTask(task)) as TaskResult<T>, close: async () => {} }
  const idle: Worker[] = []
  const all = new Set<Worker>()
  const waiting: QueuedTask[] = []
  const next = () => {
    const [one] = waiting
    if (!one) return
    const worker = idle.pop() ?? (all.size < size ? added() : undefined)
    if (!worker) return
    waiting.shift()
    give(worker, one)
  }
  const added = () => {
    const worker = start()
    worker.unref()
    all.add(worker)
    return worker
  }
  const give = (worker: Worker, { task, done }: QueuedTask) => {
    worker.ref()
    const finish = (result: TaskResult, isAlive: boolean) => {
      worker.off("message", onMessage)
      worker.off("error", onDeath)
      worker.off("exit", onDeath)
      worker.unref()
      if (isAlive) idle.push(worker)
      else all.delete(worker)
      done(result)
      next()
    }
    const onMessage = (result: TaskResult) => finish(result, true)
    const onDeath = () => finish(DEATH_RESULTS[task.kind], false)
    worker.on("message", onMessage).on("error", onDeath).on("exit", onDeath)
    worker.postMessage(task)
  }
  return {
    run: <T extends Task>(task: T) =>
      new Promise<TaskResult<T>>((resolve) => {
        waiting.push({ task, done: resolve as (result: TaskResult) => void })
        next()
      }),
    async close() {
      waiting.length = 0
      await Promise.all([...all].map((worker) => worker.terminate()))
    },
  }
}
