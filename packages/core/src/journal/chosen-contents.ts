/** Which of a store's contents belong to an owner or a project: what is moved, and what is erased. */
import { isPlaceOf, placeFor } from "../base/owner.ts"
import { namesMadeFrom } from "../base/project.ts"
import { type ContentAddress, type KeptContent, projectOf } from "./contents.ts"

export interface Choice {
  /** As given in the option `memory`. */
  readonly owner?: string | undefined
  /** Its name, title, remote or path. */
  readonly project?: string | undefined
}

/** Whether something is meant. An owner's places cannot be read from their names: they are made from those of all projects. */
export function chosenBy(
  { owner, project }: Choice,
  all: readonly KeptContent[],
): (address: ContentAddress) => boolean {
  const named = project === undefined ? undefined : namesMadeFrom(project)
  if (owner === undefined)
    return (address) => named === undefined || named.some((name) => isPlaceOf(name, projectOf(address) ?? "/"))
  const places = all.flatMap(({ address }) => projectOf(address) ?? [])
  const projects = named ?? new Set(["", ...places, ...places.map(baseOf)])
  const own = new Set([...projects].map((name) => placeFor(name, owner)))
  return (address) => own.has(projectOf(address) ?? "/")
}

/** The project of a place that has an owner. */
const baseOf = (place: string): string => place.replace(/_owner_[0-9a-f]{40}$|_unowned$/, "")
