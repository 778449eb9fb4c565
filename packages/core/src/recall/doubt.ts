/** Two memories about the same that could both be true: the older one says that there is a later one. */

interface Doubtable {
  readonly confirmed: string
  readonly supersededBy?: string
  readonly doubtedBy?: string
}

/** The later memory that may say otherwise, as long as it is there, current and not older. */
export function doubtOf<M extends Doubtable>(memory: M, named: (file: string) => M | undefined): M | undefined {
  const later = memory.doubtedBy === undefined ? undefined : named(memory.doubtedBy)
  return later && later.supersededBy === undefined && later.confirmed >= memory.confirmed ? later : undefined
}
