/** Which of a store's contents belong to an owner or a project: what is moved, and what is erased. */
import { dirname } from "node:path"
import { projectName } from "../base/clock.ts"
import { isNamespaceOf, MAX_PROJECT_PREFIX, namespaceFor } from "../base/owner.ts"
import { possibleProjectNames } from "../base/project.ts"
import { type ContentAddress, contentProject, type StoredItem } from "./contents.ts"
import type { Store } from "./store.ts"

export interface ContentCriteria {
  /** As given in the option `memory`. */
  readonly owner?: string | undefined
  /** Its name, title, remote or path. */
  readonly project?: string | undefined
}

export interface ContentSelection {
  readonly all: readonly StoredItem[]
  readonly isSelected: (address: ContentAddress) => boolean
}

/** An owner's places cannot be read from their names: they are made from those of all projects. */
export async function selectContents(store: Store, { owner, project }: ContentCriteria): Promise<ContentSelection> {
  const all: StoredItem[] = []
  for await (const content of store.contents().list()) all.push(content)
  const named = project === undefined ? undefined : possibleProjectNames(project)
  if (owner === undefined)
    return {
      all,
      isSelected: (address) =>
        named === undefined || named.some((name) => isNamespaceOf(name, contentProject(address) ?? "/")),
    }
  const places = new Set(all.flatMap(({ address }) => contentProject(address) ?? []))
  const own = new Set([...(named ?? (await projectsOf(store, places)))].map((name) => namespaceFor(name, owner)))
  return { all, isSelected: (address) => own.has(contentProject(address) ?? "/") }
}

/** The projects of places. The name of a place has only the beginning of a long path: its conversations say where they were begun. */
async function projectsOf(store: Store, places: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const projects = new Set(["", ...places])
  for (const place of places) {
    const base = withoutOwner(place)
    projects.add(base)
    if (base === place || base.length < MAX_PROJECT_PREFIX) continue
    for (const { facts } of await store.list(place))
      for (const directory of facts ? withParents(facts.cwd) : []) projects.add(projectName(directory))
  }
  return projects
}

/** A directory and those that it is in: a conversation may be begun below the project's own. */
function* withParents(cwd: string): Generator<string> {
  yield cwd
  if (dirname(cwd) !== cwd) yield* withParents(dirname(cwd))
}

/** The project of a place that has an owner. */
const withoutOwner = (place: string): string => place.replace(/_owner_[0-9a-f]{40}$|_unowned$/, "")
