/** Permits of an in-memory store, all held by one process. */
import type { Clock } from "../../base/clock.ts"
import { validateId } from "../../base/clock.ts"
import type { NamedHolder } from "../../base/errors.ts"
import type { Permit } from "../permit.ts"
import type { StoredMemory } from "./memory-files.ts"

export interface StoredPermits {
  /** Holders of permits, by id. */
  readonly taken: Map<string, NamedHolder & { readonly fence: number }>
  /** Number of permits given so far. */
  fence: number
}

export const newPermits = (): StoredPermits => ({ taken: new Map(), fence: 0 })

/** `memory` stores when the work was last done. */
export function permitInMemory(
  kept: StoredPermits,
  { clock, memory }: { clock: Clock; memory?: StoredMemory },
): Permit {
  const { taken } = kept
  const last = () => (memory?.consolidated ? { last: memory.consolidated } : {})
  return {
    state: async () => ({ taken: taken.size, ...last() }),
    async take({ id, max }) {
      const known = taken.get(validateId("permit id", id))
      if (!known && taken.size >= max) {
        const [by] = taken.values()
        return { state: "full", taken: taken.size, ...(by ? { by } : {}) }
      }
      const since = clock.now().toISOString()
      const holder = known ?? { pid: process.pid, host: "memory", since, isSelf: true, fence: ++kept.fence }
      taken.set(id, holder)
      const release = async (done?: Date) => {
        if (taken.get(id) !== holder) return // released before
        taken.delete(id)
        if (memory && done) memory.consolidated = done
      }
      return { state: "acquired", permit: { fence: holder.fence, ...last(), release } }
    },
  }
}
