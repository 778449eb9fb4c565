/**
 * Which files are worth reading again after a compaction, the most recently read first. Pure: it only names them. Whether a file is still
 * there, and how much of it fits, shows when it is read.
 */
import { basename, dirname, isAbsolute, relative, sep } from "node:path"
import type { FileRead } from "../../../tools/tool.ts"

export interface Candidate {
  readonly path: string
  readonly read: FileRead
}

export interface CandidateInput {
  /** What was read and written, the oldest first. */
  readonly reads: readonly (readonly [string, FileRead])[]
  /** Calls whose results stay whole in view. */
  readonly wholeCalls: ReadonlySet<string>
  readonly excluded: ExcludedPaths
}

export interface ExcludedPaths {
  /** The plan, memory files, instruction files that are known. */
  readonly files: readonly string[]
  /** The directories of journals, notes and memories. */
  readonly directories: readonly string[]
}

// Instruction files have these names in any directory. They are read again when the prompt is rendered.
const INSTRUCTION_NAMES = new Set(["AGENTS.md", "CLAUDE.md", "AGENTS.local.md", "CLAUDE.local.md"])
const RULE_DIRECTORIES = [`.strata${sep}rules`, `.claude${sep}rules`]

export function candidates({ reads, wholeCalls, excluded }: CandidateInput): readonly Candidate[] {
  return reads
    .filter(([path, read]) => !standsWhole(read, wholeCalls) && !isExcluded(path, excluded))
    .map(([path, read]) => ({ path, read }))
    .toReversed()
}

/** A call that read only a part does not exclude the file. */
function standsWhole({ toolUseId, range }: FileRead, wholeCalls: ReadonlySet<string>): boolean {
  return toolUseId !== undefined && range === undefined && wholeCalls.has(toolUseId)
}

function isExcluded(path: string, { files, directories }: ExcludedPaths): boolean {
  return files.includes(path) || directories.some((directory) => isInside(path, directory)) || isInstruction(path)
}

function isInstruction(path: string): boolean {
  if (INSTRUCTION_NAMES.has(basename(path))) return true
  const directory = dirname(path)
  return RULE_DIRECTORIES.some((rules) => directory.endsWith(`${sep}${rules}`))
}

function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path)
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
