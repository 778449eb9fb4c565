/**
 * The files that `@` offers: those below a directory that Glob would find too. The walk goes level by level and stops early in a large
 * project, so it never holds up what is being typed.
 */
import { join, relative, sep } from "node:path"
import { VisibleFiles } from "@strata/core/agent"

export interface WalkLimits {
  readonly files: number
  readonly ms: number
}

const LIMITS: WalkLimits = { files: 10_000, ms: 100 }
/** A name that cannot be written after `@`. */
const UNTYPABLE = /["\p{Cc}]/u

export interface FoundFiles {
  /** Relative to the working directory, with `/`. */
  readonly files: readonly string[]
  /** The walk was stopped: there are more. */
  readonly isPartial: boolean
}

export interface ProjectFilesOptions {
  /** The working directory. */
  readonly directory: string
  /** Where to look, relative to it. */
  readonly below: string
  readonly limits?: WalkLimits
}

export async function projectFiles({ directory, below, limits = LIMITS }: ProjectFilesOptions): Promise<FoundFiles> {
  const top = join(directory, below)
  const visible = await VisibleFiles.under(top)
  const started = performance.now() // on a busy machine the first search takes longer to begin than the walk may last
  const files: string[] = []
  const waiting = [top]
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (files.length >= limits.files || performance.now() - started > limits.ms) return { files, isPartial: true }
    const entries = await visible.list(next).catch(() => []) // a directory without rights has nothing to offer
    for (const entry of entries) {
      const path = join(next, entry.name)
      if (UNTYPABLE.test(entry.name)) continue
      if (entry.isDirectory()) waiting.push(path)
      else if (entry.isFile()) files.push(relative(directory, path).split(sep).join("/"))
    }
  }
  return { files: files.slice(0, limits.files), isPartial: files.length > limits.files }
}
