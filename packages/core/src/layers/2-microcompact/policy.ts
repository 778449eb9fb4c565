/**
 * Which mechanism applies to which model. At most one of those decided here acts before a request: the first in this table that has
 * something to do. What the server is asked to clear comes on top.
 */
import type { SwitchName } from "../../settings/flag-names.ts"
import type { Flags } from "../../settings/flags.ts"
import type { ModelAccepts } from "../../tokens/model-facts.ts"

export type MechanismName = "by-time" | "by-cache-edit" | "by-api" | "by-size"

/** What the choice depends on. */
export interface Circumstances {
  readonly accepts: ModelAccepts
  /** Sub-agents read what their parent wrote to the cache, and must not delete in it. */
  readonly isMain: boolean
  /** The window is large enough for the server to clear well before a compaction. */
  readonly serverHasRoom: boolean
}

export interface Mechanism {
  readonly name: MechanismName
  readonly switch: SwitchName
  readonly fits: (here: Circumstances) => boolean
  /** It does not apply where one of these does. */
  readonly insteadOf?: readonly MechanismName[]
  readonly why: string
}

export const POLICY: readonly Mechanism[] = [
  {
    name: "by-time",
    switch: "clear-by-time",
    fits: () => true,
    why: "after a long pause the cache is gone, so clearing costs nothing",
  },
  {
    name: "by-cache-edit",
    switch: "clear-by-cache-edit",
    fits: ({ accepts, isMain }) => accepts.cacheEditing && isMain,
    why: "results are deleted inside the cache: nothing changes here, and nothing is written again",
  },
  {
    name: "by-api",
    switch: "clear-by-api",
    fits: ({ accepts, serverHasRoom }) => accepts.contextManagement && serverHasRoom,
    why: "the server clears what it holds; nothing changes here, and thinking stays bound",
  },
  {
    name: "by-size",
    switch: "clear-by-size",
    fits: () => true,
    insteadOf: ["by-cache-edit", "by-api"],
    why: "the last resort before a compaction, and only where it pays",
  },
]

/** The mechanisms in force, in the order of the table. */
export function mechanismsFor(here: Circumstances, { on }: Pick<Flags, "on">): ReadonlySet<MechanismName> {
  const inForce = new Set<MechanismName>()
  for (const { name, switch: flag, fits, insteadOf = [] } of POLICY) {
    if (fits(here) && !insteadOf.some((other) => inForce.has(other)) && on[flag]) inForce.add(name)
  }
  return inForce
}
