/** The paths of everything under one root. Every name from outside is checked before it becomes part of a path. */
import { homedir } from "node:os"
import { join, resolve } from "node:path"
import { validateId } from "../../base/clock.ts"
import type { LogAddress } from "../append-log.ts"
import type { TeamAddress } from "../mailbox.ts"
import type { MemoryNamespace } from "../memory-files.ts"
import type { PermitAddress } from "../permit.ts"
import type { JournalAddress } from "../store.ts"

// only the owner may read what a conversation holds
export const DIRECTORY_MODE = 0o700
export const FILE_MODE = 0o600

/** The folder with the conversations and memories of everyone. */
export const PROJECTS = "projects"

/** The root: `STRATA_HOME`, or `.strata` in the home directory. */
export function strataDirectory(env: Readonly<Record<string, string | undefined>>): string {
  return resolve(env.STRATA_HOME || join(homedir(), ".strata"))
}

export function projectDirectory(root: string, project: string): string {
  return join(root, PROJECTS, validateId("project name", project))
}

export interface JournalPaths {
  readonly directory: string
  readonly journal: string
  readonly lock: string
  readonly index: string
  readonly checkpoint: string
  readonly inFlight: string
  readonly quarantine: string
  readonly blobs: string
  /** The session notes, for people to read and edit. */
  readonly notes: string
}

/** Where the journals of a project are, or those of the sub-agents of one conversation. */
export function journalDirectory(root: string, { project, under }: Omit<JournalAddress, "id">): string {
  const directory = projectDirectory(root, project)
  return under === undefined ? directory : join(directory, validateId("conversation id", under), "subagents")
}

export function journalPaths(root: string, { project, id, under }: JournalAddress): JournalPaths {
  const directory = journalDirectory(root, under === undefined ? { project } : { project, under })
  const name = validateId("conversation id", id)
  const at = (extension: string) => join(directory, `${name}${extension}`)
  return {
    directory,
    journal: at(".jsonl"),
    lock: at(".lock"),
    index: at(".index"),
    checkpoint: at(".checkpoint"),
    inFlight: at(".in-flight"),
    quarantine: at(".damaged"),
    blobs: join(directory, "tool-results", name),
    notes: join(directory, "session-memory", `${name}.md`),
  }
}

/** Where a project's memories are kept. */
export function memoryDirectory(root: string, project: string): string {
  return join(projectDirectory(root, project), "memory")
}

/** The directory of a memory place. */
export interface MemoryDirectoryLocation {
  readonly directory: string
  /** What it must stay inside of. */
  readonly enclosing?: string
  /** No one edits the files by hand. */
  readonly isInternal?: boolean
}

export function memoryNamespaceDirectory(root: string, namespace: MemoryNamespace): MemoryDirectoryLocation {
  if ("shared" in namespace) return { directory: root, isInternal: true }
  if ("collection" in namespace && namespace.collection !== undefined)
    return { directory: join(projectDirectory(root, namespace.project), namespace.collection), isInternal: true }
  if (!("agent" in namespace)) return { directory: memoryDirectory(root, namespace.project) }
  const name = validateId("name for an agent", namespace.agent)
  switch (namespace.scope) {
    case "user":
      return { directory: join(root, "agent-memory", name) }
    case "local":
      return { directory: join(projectDirectory(root, namespace.project), "agent-memory", name) }
    case "project": {
      const enclosing = resolve(namespace.directory)
      return { directory: join(enclosing, ".strata", "agent-memory", name), enclosing }
    }
  }
}

/** One lock for each time that the permit is taken. */
export function permitDirectory(root: string, { project, name }: PermitAddress): string {
  return join(projectDirectory(root, project), "seats", validateId("permit name", name))
}

export function logPath(root: string, { project, name }: LogAddress): string {
  return join(root, name, `${validateId("project name", project)}.jsonl`)
}

/** The directory for a custom notes template and prompt. */
export function notesConfigDirectory(root: string): string {
  return join(root, "config", "session-memory")
}

/** Where the members of a team keep their messages to each other. */
export function teamDirectory(root: string, { project, team }: TeamAddress): string {
  return join(projectDirectory(root, project), "teams", validateId("team name", team))
}
