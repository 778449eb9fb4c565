/** Ends a command that waits for ever: `cat` on a pipe without a writer, `tail -f`. It prints nothing, and its processes do nothing. */
import { type Clock, callAfter } from "../../base/clock.ts"
import type { ShellProcess } from "./shell-process.ts"

const LOOKS = 5 // in the time after which a command counts as waiting
const LEAST_SHARE = 0.01 // of a processor: `tail -f` looks at its file every second and uses less

export interface Watch {
  readonly clock: Clock
  readonly waitMs: number
}

/** Until the process ends. The result ends the watch. */
export function endIfWaiting(process: ShellProcess, { clock, waitMs }: Watch): () => void {
  let isOver = false
  let cancel = () => {}
  let since = clock.now().getTime()
  let before: Awaited<ReturnType<ShellProcess["work"]>>
  const look = async () => {
    const now = clock.now().getTime()
    const work = await process.work()
    if (isOver || work === undefined) return
    const hasWorked =
      !before ||
      work.isBusy ||
      work.chunks !== before.chunks ||
      work.diskBytes !== before.diskBytes ||
      String(work.pids) !== String(before.pids) ||
      work.processorMs - before.processorMs > LEAST_SHARE * waitMs
    if (hasWorked) {
      since = now
      before = work
    } else if (now - since >= waitMs) {
      void process.stop("waiting")
      return
    }
    cancel = callAfter(clock, waitMs / LOOKS, look)
  }
  cancel = callAfter(clock, waitMs / LOOKS, look)
  return () => {
    isOver = true
    cancel()
  }
}
