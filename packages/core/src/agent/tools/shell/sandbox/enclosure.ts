/**
 * Describes what a command in a sandbox can see and change: mounts on top of a read-only view of the system. The description is pure;
 * bubblewrap.ts and sandbox.ts convert it for their programs.
 */
import { sep } from "node:path"

export interface Enclosure {
  /** Working directory of the command. */
  readonly directory: string
  /** Hidden paths, except for shown paths inside. All paths are real paths of existing files. */
  readonly hidden: readonly HiddenPath[]
  /** Visible paths inside hidden directories. */
  readonly visible: readonly string[]
  readonly writable: readonly string[]
  readonly hasNetwork: boolean
  /** Directory for temporary files. */
  readonly scratch: string
}

export interface HiddenPath {
  readonly path: string
  readonly isDirectory: boolean
}

export type Mount =
  | { readonly how: "hide"; readonly path: string; readonly isDirectory: boolean }
  | { readonly how: "show"; readonly path: string }
  | { readonly how: "write"; readonly path: string }

const ORDER: Readonly<Record<Mount["how"], number>> = { hide: 0, show: 1, write: 2 }

/** Mounts in order of application, from the outside in: the mount nearest to a file determines its visibility. */
export function mountsOf({ hidden, visible, writable }: Enclosure): readonly Mount[] {
  const wanted: readonly Mount[] = [
    ...hidden.map((place) => ({ how: "hide" as const, ...place })),
    ...visible.map((path) => ({ how: "show" as const, path })),
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
