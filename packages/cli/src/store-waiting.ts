/** Whether a store across a network keeps this process waiting. The chat shows it on its screen, every other command as a line. */

export const WAITING = "Waiting for the database: no answer yet. Nothing is lost."

export type ShowWaiting = (isWaiting: boolean) => void

/** How many stores do not answer. */
let silent = 0
/** The last one shows it. */
const listeners: ShowWaiting[] = []

/** To be called by a store when it begins to wait, and when it was answered. */
export function storeWaits(isWaiting: boolean): void {
  const before = silent
  silent += isWaiting ? 1 : -1
  if (before === 0 || silent === 0) listeners.at(-1)?.(silent > 0)
}

/** From now on this shows it, until the result is called. */
export function showWaiting(show: ShowWaiting): () => void {
  const change = (make: () => void) => {
    if (silent > 0) listeners.at(-1)?.(false)
    make()
    if (silent > 0) listeners.at(-1)?.(true)
  }
  change(() => listeners.push(show))
  return () => change(() => listeners.splice(listeners.lastIndexOf(show), 1))
}
