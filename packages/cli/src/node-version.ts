/**
 * Checks the version of Node before the rest of the program loads. An old Node must be able to parse this file and `main.ts`, so both use
 * only syntax of Node 12.
 */

/** Minimum version, also in `engines` of every published package. The first that supports `await using`, which the examples use. */
export const OLDEST_NODE = 24

/** A message if `version` is too old, else `undefined`. */
export function nodeProblem(version: string): string | undefined {
  if (Number(version.split(".")[0]) >= OLDEST_NODE) return undefined
  return `strata needs Node ${OLDEST_NODE} or newer, and this is Node ${version}. You can get one from https://nodejs.org.`
}
