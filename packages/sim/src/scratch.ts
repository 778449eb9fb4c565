/** A temporary copy of a repository for the agent to change. It is limited in size and always removed. */
import { cpSync, type Dirent, mkdirSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join, relative } from "node:path"

export interface Scratch {
  /** The directory that was copied. */
  readonly source: string
  /** The copy. */
  readonly project: string
  /** The directory of the conversation. */
  readonly home: string
  readonly files: number
  /** Removes everything. Calling it twice is fine. */
  remove(): void
}

export interface CopyLimits {
  readonly files: number
  readonly bytes: number
  /** Size limit for one file: larger ones are rarely source code. */
  readonly fileBytes: number
}

const MB = 1024 * 1024
const LIMITS: CopyLimits = { files: 2_000, bytes: 24 * MB, fileBytes: MB / 2 }
const LEFT_OUT = new Set(["node_modules", "dist", "build", "coverage", "target"])

/** Installed and built files, and hidden directories of programs. */
const isLeftOut = (name: string) => LEFT_OUT.has(name) || name.startsWith(".")

export function makeScratch(
  source: string,
  { keep = false, limits = LIMITS }: { keep?: boolean; limits?: CopyLimits } = {},
): Scratch {
  const root = makeRoot()
  const remove = () => rmSync(root, { recursive: true, force: true, maxRetries: 3 })
  const hangUp = () => process.exit(129) // a closed terminal would end the process without its exit handlers
  if (!keep) {
    process.once("exit", remove) // also if the process is interrupted
    process.once("SIGHUP", hangUp)
  }
  const project = join(root, basename(source) || "project")
  const home = join(root, "home")
  mkdirSync(project)
  mkdirSync(home)
  const files = copyBounded({ source, target: project, limits })
  return {
    source,
    project,
    home,
    files,
    remove() {
      if (keep) return
      process.off("exit", remove)
      process.off("SIGHUP", hangUp)
      remove()
    },
  }
}

/** Numbered, not random: commands print the path, and the same seed must give the same output. Never reuses an existing directory. */
function makeRoot(): string {
  for (let number = 1; ; number++) {
    const root = join(tmpdir(), `strata-demo-${number}`)
    try {
      mkdirSync(root, { mode: 0o700 })
      return root
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    }
  }
}

/** Copies top directories first, so that the limits cut the deepest ones. Skips links, which could point anywhere. */
function copyBounded({ source, target, limits }: { source: string; target: string; limits: CopyLimits }): number {
  const waiting = [source]
  let files = 0
  let bytes = 0
  for (let directory = waiting.shift(); directory !== undefined; directory = waiting.shift()) {
    for (const entry of entriesOf(directory)) {
      const path = join(directory, entry.name)
      const isOwn = path === dirname(target) // the temporary directory may be inside the source
      if (entry.isDirectory() && !isOwn && !isLeftOut(entry.name)) waiting.push(path)
      if (!entry.isFile()) continue
      const { size } = statSync(path)
      if (size > limits.fileBytes || bytes + size > limits.bytes) continue
      if (files >= limits.files) return files
      const copy = join(target, relative(source, path))
      mkdirSync(dirname(copy), { recursive: true })
      cpSync(path, copy, { preserveTimestamps: true })
      files++
      bytes += size
    }
  }
  return files
}

function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return [] // not readable: left out
  }
}
