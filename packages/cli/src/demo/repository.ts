/** Chooses the repository that the demo works on. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** Package name of Strata's own checkout. */
export const CHECKOUT_NAME = "strata-workspace"

/** The checkout that contains this file, or the current directory if strata is installed as a package. */
export function repositoryToShow(cwd: string, here = import.meta.dirname): string {
  const root = join(here, "..", "..", "..", "..")
  const description = join(root, "package.json")
  if (!existsSync(description)) return cwd
  const { name } = JSON.parse(readFileSync(description, "utf8")) as { name?: string }
  return name === CHECKOUT_NAME ? root : cwd
}
