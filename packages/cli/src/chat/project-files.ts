/**
 * Lists the files that `@` offers: those that Glob would find too. The search goes level by level and stops early in a large project, so
 * that it never delays typing.
 */
import { join, relative, sep } from "node:path"
import { VisibleFiles } from "@strata/core/agent"

export interface WalkLimits {
  readonly files: number
  readonly ms: number
}

const LIMITS: WalkLimits = { files: 10_000, ms: 100 }
/** Names that cannot be written after `@`. */
const UNTYPABLE = /["\p{Cc}]/u

export interface FoundFiles {
  /** Paths relative to the working directory, with `/`. */
  readonly files: readonly string[]
  /** True if the search was stopped before all files were found. */
  readonly isPartial: boolean
}

export interface ProjectFilesOptions {
  /** The working directory. */
  readonly directory: string
  /** Directory to search, relative to the working directory. */
  readonly below: string
  readonly limits?: WalkLimits
}

export async function projectFiles({ directory, below, limits = LIMITS }: ProjectFilesOptions): Promise<FoundFiles> {
  const top = join(directory, below)
  const visible = await VisibleFiles.under(top)
  const started = performance.now() // measured after setup, which can take longer than the limit on a busy machine
  const files: string[] = []
  const waiting = [top]
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (files.length >= limits.files || performance.now() - started > limits.ms) return { files, isPartial: true }
    const entries = await visible.list(next).catch(() => []) // an unreadable directory has no files
    for (const entry of entries) {
      const path = join(next, entry.name)
      if (UNTYPABLE.test(entry.name)) continue
      if (entry.isDirectory()) waiting.push(path)
      else if (entry.isFile()) files.push(relative(directory, path).split(sep).join("/"))
    }
  }
  return { files: files.slice(0, limits.files), isPartial: files.length > limits.files }
}
