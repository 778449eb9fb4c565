/** How the user can start this program again, for commands that it suggests. */
import { existsSync, readFileSync } from "node:fs"
import { isAbsolute, join, relative, sep } from "node:path"
import type { CommandCall } from "./command.ts"
import { escapeToLine } from "./display/visible.ts"

/** Package name of Strata's own checkout. */
const CHECKOUT_NAME = "strata-workspace"

/** The root of the checkout that contains this file, or `undefined` if strata is installed as a package. */
export function checkoutRoot(here = import.meta.dirname): string | undefined {
  const root = join(here, "..", "..", "..") // from `src` as well as from `dist`
  const description = join(root, "package.json")
  if (!existsSync(description)) return undefined
  const { name } = JSON.parse(readFileSync(description, "utf8")) as { name?: string }
  return name === CHECKOUT_NAME ? root : undefined
}

/**
 * The beginning of a command line that works in the user's directory. It follows from where this file is, because environment variables of
 * npm also reach programs that npm did not start. A global installation has no `package.json` next to `node_modules`; a project and the
 * cache of `npx` have one.
 */
export function programCall({ cwd, env }: Pick<CommandCall, "cwd" | "env">, here = import.meta.dirname): string {
  const root = checkoutRoot(here)
  if (root !== undefined) {
    const directories = [cwd, env.INIT_CWD ?? cwd] // npm starts its scripts at the root, and names the user's directory
    return directories.every((directory) => isInside(directory, root))
      ? "npx --no-install strata"
      : `npm exec --prefix ${quotePath(root)} -- strata`
  }
  const [project = here] = here.split(`${sep}node_modules${sep}`)
  return project !== here && existsSync(join(project, "package.json")) ? "npx strata-agent" : "strata"
}

function isInside(directory: string, root: string): boolean {
  const path = relative(root, directory)
  return path.split(sep)[0] !== ".." && !isAbsolute(path)
}

/** Quotes a path for a shell, if it needs that. Control characters become visible. */
export function quotePath(path: string): string {
  const text = escapeToLine(path)
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
