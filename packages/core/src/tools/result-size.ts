/** How large a result may be that is put aside whole. */

/** Characters of one result in memory and in the journal. An endless output ends here, and its result says so. */
export const MAX_RESULT_HELD = 1_000_000
