/**
 * Checks the version of Node before the rest of the program loads. An old Node has to parse this file and `main.ts`, so both use only
 * syntax that Node 12 knows.
 */

/** Also in `engines` of every published package. */
export const OLDEST_NODE = "22.18"

/** A sentence for the person if `version` is too old, else `undefined`. */
export function nodeProblem(version: string): string | undefined {
  const [needMajor, needMinor] = OLDEST_NODE.split(".").map(Number) as [number, number]
  const [major, minor] = version.split(".").map(Number) as [number, number]
  if (major > needMajor || (major === needMajor && minor >= needMinor)) return undefined
  return `strata needs Node ${OLDEST_NODE} or newer, and this is Node ${version}. You can get one from https://nodejs.org.`
}
