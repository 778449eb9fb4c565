/** Selects the projects to sync: the current one, or all whose names mean the same on other machines. */

import { type Store, StrataError } from "@strata/core"
import { isLocalNamespace, systemClock } from "@strata/core/base"
import { eraseDreamTraces, openBank } from "@strata/core/memory"
import { CONSOLIDATE } from "@strata/core/store"
import type { SyncedProject } from "./memories.ts"

/** Whether a project is identified by its path, which other machines do not share. */
const isPathName = (place: string): boolean => place.startsWith("-") || place.includes("--")

export interface AllProjects {
  readonly store: Store
  readonly current: SyncedProject
  readonly there: ReadonlySet<string>
  readonly readOnly: boolean
}

export async function allProjects({ store, current, there, readOnly }: AllProjects): Promise<readonly SyncedProject[]> {
  const here = (await store.projects()).filter(
    (place) => /^[A-Za-z0-9-]{1,200}$/.test(place) && isLocalNamespace(place),
  )
  const places = [...new Set([...here, ...there])].filter((place) => place !== current.key && !isPathName(place))
  return [current, ...places.sort().map((place) => projectAt({ store, place, readOnly }))]
}

interface OneProject extends Pick<AllProjects, "store" | "readOnly"> {
  readonly place: string
}

function projectAt({ store, place: key, readOnly }: OneProject): SyncedProject {
  const files = store.memories({ project: key })
  const bank = openBank({ files, readOnly })
  const dreams = {
    ...{ files, stateFiles: store.memories({ project: key, collection: "dreams" }) },
    ...{ permit: store.permit({ project: key, name: CONSOLIDATE }), clock: systemClock },
  }
  return {
    key,
    files,
    bank: {
      all: () => bank.all(),
      erase: async (file) => {
        if (await eraseDreamTraces(file, dreams)) return bank.erase(file)
        throw new StrataError(`A dream of ${key} is running, and its copy contains this memory.`, {
          code: "dream-running",
        })
      },
    },
  }
}
