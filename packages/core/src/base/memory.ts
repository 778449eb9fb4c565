/** How many bytes of objects this process may keep. V8's limit also counts the space for new objects. */
import { getHeapStatistics } from "node:v8"

const NEW_OBJECTS = 192 * 1024 * 1024 // bytes, on machines with 64 bits

export function usableMemory(): number {
  const { heap_size_limit: limit } = getHeapStatistics()
  return Math.max(limit - NEW_OBJECTS, limit / 4)
}
