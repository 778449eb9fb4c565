/** Waits until another process releases a lock, then opens. */
import { setTimeout as wait } from "node:timers/promises"
import type { Clock } from "../base/clock.ts"
import { ConversationLockedError } from "../base/errors.ts"

const FIRST_PAUSE_MS = 10
const MAX_PAUSE_MS = 200

export interface LockWait {
  /** In milliseconds. After that, the error naming the other process is thrown. */
  readonly lockTimeoutMs: number
  readonly clock: Clock
}

export async function waitForLock<T>(open: () => Promise<T>, { lockTimeoutMs, clock }: LockWait): Promise<T> {
  const pause = (ms: number) => (clock.after ? new Promise<void>((end) => clock.after!(ms, end)) : wait(ms))
  for (let waited = 0, next = FIRST_PAUSE_MS; ; next = Math.min(2 * next, MAX_PAUSE_MS)) {
    try {
      return await open()
    } catch (error) {
      if (!(error instanceof ConversationLockedError) || waited >= lockTimeoutMs) throw error
    }
    await pause(next)
    waited += next
  }
}
