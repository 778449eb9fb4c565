/** Finds the repository that a directory belongs to, without running git. */
import { dirname, join } from "node:path"
import { factsOf, realPath } from "./path-facts.ts"

/**
 * The nearest directory at or above `cwd` with a `.git`. A repository above `cwd` counts only if it belongs to you or to the owner of
 * `cwd`: in a shared directory such as `/tmp` anyone can put one. A home directory kept in git is not the project of all that is below it.
 * Without a repository it is `cwd` itself.
 */
export function repositoryRoot(cwd: string, { home }: { readonly home?: string | undefined } = {}): string {
  const owners = new Set([process.getuid?.(), ownerOf(cwd)])
  const end = home === undefined ? undefined : (realPath(home) ?? home)
  for (let directory = cwd; ; directory = dirname(directory)) {
    if (directory === end) return cwd
    const owner = ownerOf(join(directory, ".git"))
    if (owner !== undefined)
      return directory === cwd || (owners.has(owner) && owners.has(ownerOf(directory))) ? directory : cwd
    if (dirname(directory) === directory) return cwd
  }
}

/** `undefined` if there is nothing. */
const ownerOf = (path: string): number | undefined => factsOf(path)?.uid
