/** The paths of everything under one root. Every name from outside is checked before it becomes part of a path. */
import { homedir } from "node:os"
import { join, resolve } from "node:path"
import { checkedId } from "../../base/clock.ts"
import type { LogAddress } from "../line-log.ts"
import type { TeamAddress } from "../mailbox.ts"
import type { MemoryPlace } from "../memory-files.ts"
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
  return join(root, PROJECTS, checkedId("project name", project))
}

export interface JournalPaths {
  readonly directory: string
  readonly journal: string
  readonly lock: string
  readonly index: string
  readonly checkpoint: string
  readonly inFlight: string
  readonly setAside: string
  readonly blobs: string
  /** The session notes, for people to read and edit. */
  readonly notes: string
}

/** Where the journals of a project are, or those of the sub-agents of one conversation. */
export function journalDirectory(root: string, { project, under }: Omit<JournalAddress, "id">): string {
  const directory = projectDirectory(root, project)
  return under === undefined ? directory : join(directory, checkedId("conversation id", under), "subagents")
}

export function journalPaths(root: string, { project, id, under }: JournalAddress): JournalPaths {
  const directory = journalDirectory(root, under === undefined ? { project } : { project, under })
  const name = checkedId("conversation id", id)
  const at = (extension: string) => join(directory, `${name}${extension}`)
  return {
    directory,
    journal: at(".jsonl"),
    lock: at(".lock"),
    index: at(".index"),
    checkpoint: at(".checkpoint"),
    inFlight: at(".in-flight"),
    setAside: at(".damaged"),
    blobs: join(directory, "tool-results", name),
    notes: join(directory, "session-memory", `${name}.md`),
  }
}

/** Where a project's memories are kept. */
export function memoryDirectory(root: string, project: string): string {
  return join(projectDirectory(root, project), "memory")
}

/** The directory of a memory place. */
export interface MemoryDirectoryPlace {
  readonly directory: string
  /** What it must stay inside of. */
  readonly inside?: string
  /** No one edits the files by hand. */
  readonly isOurs?: boolean
}

export function memoryPlaceDirectory(root: string, place: MemoryPlace): MemoryDirectoryPlace {
  if ("shared" in place) return { directory: root, isOurs: true }
  if ("beside" in place && place.beside !== undefined)
    return { directory: join(projectDirectory(root, place.project), place.beside), isOurs: true }
  if (!("agent" in place)) return { directory: memoryDirectory(root, place.project) }
  const name = checkedId("name for an agent", place.agent)
  switch (place.scope) {
    case "user":
      return { directory: join(root, "agent-memory", name) }
    case "local":
      return { directory: join(projectDirectory(root, place.project), "agent-memory", name) }
    case "project": {
      const inside = resolve(place.directory)
      return { directory: join(inside, ".strata", "agent-memory", name), inside }
    }
  }
}

/** One lock for each time that the permit is taken. */
export function permitDirectory(root: string, { project, name }: PermitAddress): string {
  return join(projectDirectory(root, project), "seats", checkedId("permit name", name))
}

export function logPath(root: string, { project, name }: LogAddress): string {
  return join(root, name, `${checkedId("project name", project)}.jsonl`)
}

/** The directory for a custom notes template and prompt. */
export function notesConfigDirectory(root: string): string {
  return join(root, "config", "session-memory")
}

/** Where the members of a team keep their messages to each other. */
export function teamDirectory(root: string, { project, team }: TeamAddress): string {
  return join(projectDirectory(root, project), "teams", checkedId("team name", team))
}
