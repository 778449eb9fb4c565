/**
 * What a command in a sandbox sees and may change, as a plan: places on top of a view of the system that is read-only. The plan is pure;
 * bubblewrap.ts and sandbox-exec.ts write it down for their programs.
 */
import { sep } from "node:path"

export interface Enclosure {
  /** Where the command starts. */
  readonly directory: string
  /** Not in view, unless a place inside is shown. All paths are real paths of things that exist. */
  readonly hidden: readonly HiddenPlace[]
  /** In view although they are in a hidden place. */
  readonly shown: readonly string[]
  readonly writable: readonly string[]
  readonly hasNetwork: boolean
  /** The directory for temporary files. */
  readonly scratch: string
}

export interface HiddenPlace {
  readonly path: string
  readonly isDirectory: boolean
}

export type Mount =
  | { readonly how: "hide"; readonly path: string; readonly isDirectory: boolean }
  | { readonly how: "show"; readonly path: string }
  | { readonly how: "write"; readonly path: string }

const ORDER: Readonly<Record<Mount["how"], number>> = { hide: 0, show: 1, write: 2 }

/** In the order in which they are laid on each other, from the outside in: the place nearest to a file decides about it. */
export function mountsOf({ hidden, shown, writable }: Enclosure): readonly Mount[] {
  const wanted: readonly Mount[] = [
    ...hidden.map((place) => ({ how: "hide" as const, ...place })),
    ...shown.map((path) => ({ how: "show" as const, path })),
    ...writable.map((path) => ({ how: "write" as const, path })),
  ]
  const sorted = wanted.toSorted((a, b) => a.path.length - b.path.length || ORDER[a.how] - ORDER[b.how])
  const mounts: Mount[] = []
  for (const mount of sorted) {
    const around = mounts.findLast(({ path }) => isWithin(mount.path, path))
    const isNeeded = mount.how === "show" ? around?.how === "hide" : around?.how !== mount.how
    if (isNeeded) mounts.push(mount)
  }
  return mounts
}

export const isWithin = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory.endsWith(sep) ? directory : `${directory}${sep}`)
