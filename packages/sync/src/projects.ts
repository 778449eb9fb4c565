/** Which projects are synced: this one, or all that have a name that means the same on another machine. */

import { type Store, StrataError } from "@strata/core"
import { isLocal, systemClock } from "@strata/core/base"
import { eraseDreamTraces, openBank } from "@strata/core/memory"
import { CONSOLIDATE } from "@strata/core/store"
import type { SyncedProject } from "./memories.ts"

/** A path names a project on one machine only. */
const isPathName = (place: string): boolean => place.startsWith("-") || place.includes("--")

export interface AllProjects {
  readonly store: Store
  readonly current: SyncedProject
  readonly there: ReadonlySet<string>
  readonly readOnly: boolean
}

export async function allProjects({ store, current, there, readOnly }: AllProjects): Promise<readonly SyncedProject[]> {
  const here = (await store.projects()).filter((place) => /^[A-Za-z0-9-]{1,200}$/.test(place) && isLocal(place))
  const places = [...new Set([...here, ...there])].filter((place) => place !== current.place && !isPathName(place))
  return [current, ...places.sort().map((place) => projectAt({ store, place, readOnly }))]
}

interface OneProject extends Pick<AllProjects, "store" | "readOnly"> {
  readonly place: string
}

function projectAt({ store, place, readOnly }: OneProject): SyncedProject {
  const files = store.memories({ project: place })
  const bank = openBank({ files, readOnly })
  const dreams = {
    ...{ files, notes: store.memories({ project: place, beside: "dreams" }) },
    ...{ permit: store.permit({ project: place, name: CONSOLIDATE }), clock: systemClock },
  }
  return {
    place,
    files,
    bank: {
      all: () => bank.all(),
      erase: async (file) => {
        if (await eraseDreamTraces(file, dreams)) return bank.erase(file)
        throw new StrataError(`A dream of ${place} is running, and its copy has this memory in it.`, {
          code: "dream-running",
        })
      },
    },
  }
}
