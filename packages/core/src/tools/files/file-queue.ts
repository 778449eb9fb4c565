import { KeyedQueues } from "../../base/work.ts"

/**
 * Queue of changes per file, so that changes to one file run one after the other, even those of several agents in this process. It only
 * holds waiting changes.
 */
const changes = new KeyedQueues<string>()

/** Runs `change` after all earlier changes of the file, whether they succeeded or failed. */
export const enqueueChange = <T>(path: string, change: () => Promise<T>): Promise<T> => changes.run(path, change)
