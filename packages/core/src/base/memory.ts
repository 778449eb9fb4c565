/** How many bytes of objects this process may keep. V8's limit also counts the space for new objects. */
import { getHeapStatistics } from "node:v8"
import { StrataError } from "./errors.ts"
import { formatNumber } from "./text.ts"

const NEW_OBJECTS = 192 * 1024 * 1024 // bytes, on machines with 64 bits

export function usableMemory(): number {
  const { heap_size_limit: limit } = getHeapStatistics()
  return Math.max(limit - NEW_OBJECTS, limit / 4)
}

const MEMORY_SHARE = 1 / 3 // of what this process may use: entries in memory take about twice what they take on disk

/** Whether the entries of a journal fit. Node would end the process without a word. */
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
