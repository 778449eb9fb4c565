import { Queues } from "../../base/work.ts"

/**
 * Changes to one file run one after the other, even if several agents in this process make them. The map is shared by the process,
 * because the files are. It holds only the changes that wait.
 */
const changes = new Queues<string>()

/** Runs `change` once all earlier changes of the file are done, however they ended. */
export const inTurn = <T>(path: string, change: () => Promise<T>): Promise<T> => changes.run(path, change)
