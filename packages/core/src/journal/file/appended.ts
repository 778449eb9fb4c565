/** Says in this process what was appended to the journals of a directory, so that who follows them need not read it again. */

import type { AppendedLines } from "../feed.ts"

type Listener = (appended: AppendedLines) => void

const listeners = new Map<string, Set<Listener>>()

/** Returns what ends it. */
export function onAppended(directory: string, listener: Listener): () => void {
  const all = listeners.get(directory) ?? new Set()
  listeners.set(directory, all.add(listener))
  return () => {
    all.delete(listener)
    if (all.size === 0 && listeners.get(directory) === all) listeners.delete(directory)
  }
}

export function tellAppended(directory: string, appended: AppendedLines): void {
  for (const listener of listeners.get(directory) ?? []) listener(appended)
}
