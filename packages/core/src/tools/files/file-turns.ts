/**
 * Changes of one file come one after the other, whoever asks: the main conversation and its agents share a process and a disk. The
 * map is the process's own, as the files are; it holds nothing but who waits.
 */
const waiting = new Map<string, Promise<unknown>>()

/** Runs `change` once all earlier changes of the file are done, however they ended. */
export async function inTurn<T>(path: string, change: () => Promise<T>): Promise<T> {
  const turn = (waiting.get(path) ?? Promise.resolve()).then(change)
  const over = turn.catch(() => {}) // its failure is for whoever asked for it, not for the next
  waiting.set(path, over)
  try {
    return await turn
  } finally {
    if (waiting.get(path) === over) waiting.delete(path)
  }
}
