/** Work after a response lets the caller go on first: it is done when the event loop comes round. */
import { setImmediate } from "node:timers/promises"

/** One waits at a time. Where turns follow one another without a pause, the next does not wait, so nothing piles up. */
export function oneLater(): () => Promise<void> {
  let isWaiting = false
  return async () => {
    if (isWaiting) return
    isWaiting = true
    await setImmediate()
    isWaiting = false
  }
}
