/** Possible conflicts between memories: two about the same subject that could both be true, where the older one refers to the later one. */

interface ConflictingMemory {
  readonly confirmed: string
  readonly supersededBy?: string
  readonly doubtedBy?: string
}

/** The later memory with a possible conflict, if it still exists, is current and not older. */
export function possibleConflict<M extends ConflictingMemory>(
  memory: M,
  named: (file: string) => M | undefined,
): M | undefined {
  const later = memory.doubtedBy === undefined ? undefined : named(memory.doubtedBy)
  return later && later.supersededBy === undefined && later.confirmed >= memory.confirmed ? later : undefined
}
