/** How much memory this process may use for objects. V8's limit includes the space for new objects. */
import { getHeapStatistics } from "node:v8"
import { StrataError } from "./errors.ts"
import { formatNumber } from "./text.ts"

const NEW_OBJECTS = 192 * 1024 * 1024 // bytes, on machines with 64 bits

export function usableMemory(): number {
  const { heap_size_limit: limit } = getHeapStatistics()
  return Math.max(limit - NEW_OBJECTS, limit / 4)
}

const MEMORY_SHARE = 1 / 3 // of the usable memory: entries take about twice their size on disk

/** Throws if the entries of a journal do not fit. Otherwise Node would end the process without an explanation. */
export function assertFitsMemory(path: string, bytes: number): void {
  const memory = usableMemory()
  if (bytes <= memory * MEMORY_SHARE) return
  const megabytes = (count: number) => formatNumber(Math.ceil(count / 1024 / 1024))
  const needed = megabytes(bytes / MEMORY_SHARE)
  throw new StrataError(
    `${path} has ${megabytes(bytes)} MB since its last compaction, and ${megabytes(memory)} MB of memory are too few to open it. Nothing was changed, and everything is kept. Allow more: NODE_OPTIONS=--max-old-space-size=${needed.replaceAll(",", "")} (in MB).`,
    { code: "journal-memory" },
  )
}
