/** Responses of the simulator. Their ids have a mark, so that no report counts what they would have cost as money. */
export const SIMULATED_MARK = "SIM"

/** The id of a response that the simulator gave. */
export const isSimulatedId = (id: string): boolean => id.includes(`_01${SIMULATED_MARK}`)
