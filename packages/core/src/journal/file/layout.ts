/** The paths of everything under one root. Every name from outside is checked before it becomes part of a path. */
import { homedir } from "node:os"
import { join, resolve } from "node:path"
import { validateId } from "../../base/clock.ts"
import type { LogAddress } from "../append-log.ts"
import type { TeamAddress } from "../mailbox.ts"
import type { MemoryNamespace } from "../memory-files.ts"
import type { PermitAddress } from "../permit.ts"
import type { JournalAddress } from "../store.ts"

// conversations are readable only by the user who owns the files
export const DIRECTORY_MODE = 0o700
export const FILE_MODE = 0o600

/** The folder with all conversations and memories. */
export const PROJECTS = "projects"

/** The root directory: `STRATA_HOME`, or `.strata` in the home directory. */
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
  /** The session notes, which users can read and edit. */
  readonly notes: string
}

/** The directory with the journals of a project, or of one conversation's sub-agents. */
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

/** The directory of a project's memories. */
export function memoryDirectory(root: string, project: string): string {
  return join(projectDirectory(root, project), "memory")
}

/** The directory of a memory namespace. */
export interface MemoryDirectoryLocation {
  readonly directory: string
  /** A directory that must contain it. */
  readonly enclosing?: string
  /** Only Strata writes these files; users do not edit them. */
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

/** The directory with one lock file for each permit in use. Its name on disk is that of earlier versions. */
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

/** The directory of a team's messages and members. */
export function teamDirectory(root: string, { project, team }: TeamAddress): string {
  return join(projectDirectory(root, project), "teams", validateId("team name", team))
}
