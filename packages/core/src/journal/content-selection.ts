/** Selects the contents of a store that belong to an owner or a project, for moving and erasing. */
import { dirname } from "node:path"
import { projectName } from "../base/clock.ts"
import { isNamespaceOf, MAX_PROJECT_PREFIX, namespaceFor } from "../base/owner.ts"
import { possibleProjectNames } from "../base/project.ts"
import { type ContentAddress, contentProject, type StoredItem } from "./contents.ts"
import type { Store } from "./store.ts"

export interface ContentCriteria {
  /** The owner, as in the option `memory`. */
  readonly owner?: string | undefined
  /** The project's name, title, remote or path. */
  readonly project?: string | undefined
}

export interface ContentSelection {
  readonly all: readonly StoredItem[]
  readonly isSelected: (address: ContentAddress) => boolean
}

/** An owner's namespaces contain a hash of the owner, so they are computed from the names of all projects. */
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
  // a namespace that has no content any more still names its project
  const isEmptied = (place: string) => named === undefined && namespaceFor(withoutOwner(place), owner) === place
  return {
    all,
    isSelected: (address) => {
      const place = contentProject(address) ?? "/"
      return own.has(place) || isEmptied(place)
    },
  }
}

/**
 * The projects of these namespaces. A namespace holds only the start of a long path, so the working directories of its conversations are
 * read too.
 */
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

/** A directory and all its parents: a conversation may start below the project's own directory. */
function* withParents(cwd: string): Generator<string> {
  yield cwd
  if (dirname(cwd) !== cwd) yield* withParents(dirname(cwd))
}

/** The project name of a namespace, without the owner. */
const withoutOwner = (place: string): string => place.replace(/_owner_[0-9a-f]{40}$|_unowned$/, "")
