/**
 * Competes for the lock of a consolidation, as one of several processes: `node lock-racer.ts race <directory> <attempts>`. Prints how often
 * it won, and `two holders` if another process held the lock at the same time.
 *
 * `node lock-racer.ts stop <directory> <step>` acquires and releases the lock, and stops indefinitely at the step, to be killed there.
 */
import { rmSync, writeFileSync, writeSync } from "node:fs"
import { flushCompileCache } from "node:module"
import { join } from "node:path"
import { systemClock } from "../src/base/clock.ts"
import { acquireConsolidationLock } from "../src/journal/file/consolidate-lock.ts"

const [task, directory = "", given = ""] = process.argv.slice(2)
if (task === "race") await race(Number(given))
else await stopAt(given)

async function race(attempts: number): Promise<void> {
  const mark = join(directory, "..", "holder")
  let wins = 0
  for (let attempt = 0; attempt < attempts; attempt++) {
    const result = await acquireConsolidationLock({ directory, clock: systemClock })
    if (result.state === "held") continue
    wins++
    try {
      writeFileSync(mark, String(process.pid), { flag: "wx" })
      rmSync(mark)
    } catch {
      console.log("two holders")
    }
    await result.lock.release(attempt % 2 === 0 ? systemClock.now() : undefined)
  }
  console.log(`won ${wins}`)
}

async function stopAt(wanted: string): Promise<void> {
  const atStep = (step: string) => {
    if (step !== wanted) return
    flushCompileCache() // a killed process would not save its compile cache
    writeSync(1, "stopped\n")
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0) // waits to be killed
  }
  const result = await acquireConsolidationLock({ directory, clock: systemClock, atStep })
  if (result.state === "acquired") await result.lock.release()
}
