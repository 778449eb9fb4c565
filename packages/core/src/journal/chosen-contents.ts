/** Which of a store's contents belong to an owner or a project: what is moved, and what is erased. */
import { dirname } from "node:path"
import { projectName } from "../base/clock.ts"
import { isPlaceOf, MAX_START, placeFor } from "../base/owner.ts"
import { namesMadeFrom } from "../base/project.ts"
import { type ContentAddress, projectOf, type StoredItem } from "./contents.ts"
import type { Store } from "./store.ts"

export interface Choice {
  /** As given in the option `memory`. */
  readonly owner?: string | undefined
  /** Its name, title, remote or path. */
  readonly project?: string | undefined
}

export interface ChosenContents {
  readonly all: readonly StoredItem[]
  readonly isChosen: (address: ContentAddress) => boolean
}

/** An owner's places cannot be read from their names: they are made from those of all projects. */
export async function chosenIn(store: Store, { owner, project }: Choice): Promise<ChosenContents> {
  const all: StoredItem[] = []
  for await (const content of store.contents().list()) all.push(content)
  const named = project === undefined ? undefined : namesMadeFrom(project)
  if (owner === undefined)
    return {
      all,
      isChosen: (address) => named === undefined || named.some((name) => isPlaceOf(name, projectOf(address) ?? "/")),
    }
  const places = new Set(all.flatMap(({ address }) => projectOf(address) ?? []))
  const own = new Set([...(named ?? (await projectsOf(store, places)))].map((name) => placeFor(name, owner)))
  return { all, isChosen: (address) => own.has(projectOf(address) ?? "/") }
}

/** The projects of places. The name of a place has only the beginning of a long path: its conversations say where they were begun. */
async function projectsOf(store: Store, places: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const projects = new Set(["", ...places])
  for (const place of places) {
    const base = baseOf(place)
    projects.add(base)
    if (base === place || base.length < MAX_START) continue
    for (const { facts } of await store.list(place))
      for (const directory of facts ? directoriesOf(facts.cwd) : []) projects.add(projectName(directory))
  }
  return projects
}

/** A directory and those that it is in: a conversation may be begun below the project's own. */
function* directoriesOf(cwd: string): Generator<string> {
  yield cwd
  if (dirname(cwd) !== cwd) yield* directoriesOf(dirname(cwd))
}

/** The project of a place that has an owner. */
const baseOf = (place: string): string => place.replace(/_owner_[0-9a-f]{40}$|_unowned$/, "")
