/**
 * Checks the version of Node before the rest of the program loads. An old Node has to parse this file and `main.ts`, so both use only
 * syntax that Node 12 knows.
 */

/** Also in `engines` of every published package. The first that parses `await using`, which our examples begin with. */
export const OLDEST_NODE = 24

/** A sentence for the user if `version` is too old, else `undefined`. */
export function nodeProblem(version: string): string | undefined {
  if (Number(version.split(".")[0]) >= OLDEST_NODE) return undefined
  return `strata needs Node ${OLDEST_NODE} or newer, and this is Node ${version}. You can get one from https://nodejs.org.`
}
