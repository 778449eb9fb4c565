/** Maximum characters of one result in memory and in the journal. Longer output is cut, and the result states that. */
export const MAX_RESULT_CHARACTERS = 1_000_000
