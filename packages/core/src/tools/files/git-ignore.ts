/**
 * Filters a directory walk by git's ignore rules. All `.gitignore` files from the root to the directory apply, the deepest first. An
 * ignored directory is never entered.
 */
import type { Dirent } from "node:fs"
import { access, readdir } from "node:fs/promises"
import { dirname, join, relative, resolve, sep } from "node:path"
import ignore, { type Ignore } from "ignore"
import { readPlainFile } from "../../base/files.ts"

const MAX_BYTES = 1_000_000 // maximum size of one `.gitignore` file

/** Directories that are rarely relevant and often larger than everything else. Searched only if the search starts inside. */
export const NEVER_ENTERED: readonly string[] = [".git", ".hg", ".svn", ".jj", "node_modules"]
const RULES_FILE = ".gitignore"

export class VisibleFiles {
  readonly #rules = new Map<string, Ignore>()

  private constructor() {}

  /** Loads the rules for a walk that starts at `root`. If `root` itself is ignored, its files are included. */
  static async under(root: string): Promise<VisibleFiles> {
    const visible = new VisibleFiles()
    const above = await directoriesInRepository(root)
    for (const directory of above) await visible.#addRules(directory)
    if (visible.#isIgnored(root, true)) visible.#rules.clear()
    return visible
  }

  async list(walked: string): Promise<readonly Dirent[]> {
    const directory = resolve(walked) // directory walkers pass names with a trailing slash
    const entries = await readdir(directory, { withFileTypes: true })
    if (entries.some(({ name }) => name === RULES_FILE)) await this.#addRules(directory)
    return entries.filter(
      (entry) =>
        !NEVER_ENTERED.includes(entry.name) && !this.#isIgnored(join(directory, entry.name), entry.isDirectory()),
    )
  }

  async #addRules(directory: string): Promise<void> {
    const bytes = await readPlainFile(join(directory, RULES_FILE), MAX_BYTES).catch(() => undefined) // an unreadable file adds no rules
    if (bytes) this.#rules.set(directory, ignore().add(bytes.toString("utf8")))
  }

  #isIgnored(path: string, isDirectory: boolean): boolean {
    for (let directory = dirname(path); ; directory = dirname(directory)) {
      const way = relative(directory, path).split(sep).join("/")
      const verdict = this.#rules.get(directory)?.test(isDirectory ? `${way}/` : way)
      if (verdict?.ignored) return true
      if (verdict?.unignored || dirname(directory) === directory) return false
    }
  }
}

/** Parent directories up to the root of the repository. Empty outside a repository. */
async function directoriesInRepository(root: string): Promise<readonly string[]> {
  const above: string[] = []
  for (let directory = root; ; directory = dirname(directory)) {
    if (directory !== root) above.push(directory)
    if (await exists(join(directory, ".git"))) return above
    if (dirname(directory) === directory) return []
  }
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
