/** Marker in the ids of simulated responses, so that no report counts their cost as money. */
export const SIMULATED_MARK = "SIM"

/** Whether a response id comes from the simulator. */
export const isSimulatedId = (id: string): boolean => id.includes(`_01${SIMULATED_MARK}`)
