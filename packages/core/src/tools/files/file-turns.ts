/**
 * Changes to one file run one after the other, even if several agents in this process make them. The map is shared by the process,
 * because the files are. It holds only the changes that wait.
 */
const waiting = new Map<string, Promise<unknown>>()

/** Runs `change` once all earlier changes of the file are done, however they ended. */
export async function inTurn<T>(path: string, change: () => Promise<T>): Promise<T> {
  const turn = (waiting.get(path) ?? Promise.resolve()).then(change)
  const over = turn.catch(() => {}) // the caller gets its failure; the next change does not
  waiting.set(path, over)
  try {
    return await turn
  } finally {
    if (waiting.get(path) === over) waiting.delete(path)
  }
}
