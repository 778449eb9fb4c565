/** Sizes of the fleet. */
import type { FleetSize } from "./driver.ts"

export const LONG: FleetSize = {
  ...{ agents: 50, processes: 8 },
  ...{ kills: 200, restarts: 20, pauses: 20, cuts: 300, pauseMs: 150 },
}

/** Used in every test run. */
export const SHORT: FleetSize = {
  ...{ agents: 12, processes: 3 },
  ...{ kills: 5, restarts: 2, pauses: 1, cuts: 15, pauseMs: 40 },
}

/** How often a primary is killed, and the number of concurrent writers. */
export const FAILOVERS = { times: 20, writers: 8 }
export const SHORT_FAILOVERS = { times: 2, writers: 4 }
