/** Tracks whether this process waits for a network store. The chat shows it on its screen, every other command as a line. */

export const WAITING = "Waiting for the database: no answer yet. Nothing is lost."

export type ShowWaiting = (isWaiting: boolean) => void

/** Number of stores that do not answer. */
let silent = 0
/** Stack of listeners. Only the most recent one is called. */
const listeners: ShowWaiting[] = []

/** Called by a store when it starts waiting and when it gets an answer. */
export function storeWaits(isWaiting: boolean): void {
  const before = silent
  silent += isWaiting ? 1 : -1
  if (before === 0 || silent === 0) listeners.at(-1)?.(silent > 0)
}

/** Registers a listener. The returned function removes it. */
export function showWaiting(show: ShowWaiting): () => void {
  const change = (make: () => void) => {
    if (silent > 0) listeners.at(-1)?.(false)
    make()
    if (silent > 0) listeners.at(-1)?.(true)
  }
  change(() => listeners.push(show))
  return () => change(() => listeners.splice(listeners.lastIndexOf(show), 1))
}
