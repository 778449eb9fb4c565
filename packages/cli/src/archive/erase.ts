/** `strata archive erase`: shows which archived sessions would be erased and how much space that frees, asks, then erases them. */
import { basename, resolve, sep } from "node:path"
import type { ArchivedSession, SessionArchive } from "@strata/transcripts"
import { UsageError } from "../command.ts"
import { promptForChoice } from "../confirm.ts"
import { pluralize } from "../display/numbers.ts"
import type { Terminal } from "../display/terminal.ts"
import { findSession, formatBytes, sessionTable } from "./page.ts"

const DONE = 0
const NOT_DONE = 1
const DAY_MS = 24 * 60 * 60 * 1000
const UNITS: Readonly<Record<string, number>> = { d: 1, w: 7, m: 30, y: 365 }

export interface EraseOptions {
  readonly terminal: Terminal
  readonly cwd: string
  /** Prefixes of session ids. */
  readonly names: readonly string[]
  readonly project: string | undefined
  readonly olderThan: string | undefined
  readonly dryRun: boolean
  readonly isSure: boolean
  readonly now: Date
}

export async function erase(store: SessionArchive, erasing: EraseOptions): Promise<number> {
  const { terminal, names, project, olderThan, dryRun, isSure, now } = erasing
  if (names.length === 0 && project === undefined && olderThan === undefined)
    throw new UsageError("Say what to erase: SESSION, --project DIRECTORY or --older-than 90d.")
  const chosen = selectSessions((await store.list()).sessions, erasing)
  if (chosen.length === 0) {
    terminal.print("No archived session matches. Nothing was erased.\n")
    return DONE
  }
  terminal.print(`${sessionTable(chosen, { terminal, now }).join("\n")}\n`)
  const last = chosen.filter(({ originalExists, isEarlier }) => !originalExists || isEarlier).length
  const what = `${pluralize(chosen.length, "session")}, ${formatBytes(await store.freedBy(chosen))} on disk`
  terminal.print(`\n${what}. For ${last} of them this is the only copy.\n`)
  if (dryRun) {
    terminal.print("Nothing was erased.\n")
    return DONE
  }
  if (!isSure && !(await confirmErasure())) {
    terminal.print("Nothing was erased.\n")
    return NOT_DONE
  }
  terminal.print(`Erased. ${formatBytes(await store.erase(chosen))} are free again.\n`)
  return DONE
}

async function confirmErasure(): Promise<boolean> {
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true)
    throw new UsageError("strata archive erase asks at a terminal. In scripts, use --yes.")
  return (await promptForChoice("Erase them for good? yes or no: ", ["yes", "no"])) === "yes"
}

function selectSessions(sessions: readonly ArchivedSession[], erasing: EraseOptions): readonly ArchivedSession[] {
  const { names, project, olderThan, cwd, now } = erasing
  const named = names.map((name) => findSession(name, sessions))
  const before = olderThan === undefined ? Number.POSITIVE_INFINITY : now.getTime() - parseAge(olderThan) * DAY_MS
  return (names.length === 0 ? sessions : named).filter(
    (session) => session.modifiedMs < before && (project === undefined || isInProject(session, project, cwd)),
  )
}

/** Whether the session belongs to a project, given by its directory, a parent directory, or its name. */
function isInProject({ project }: ArchivedSession, wanted: string, cwd: string): boolean {
  if (project === undefined) return false
  const path = resolve(cwd, wanted)
  return project === path || project.startsWith(`${path}${sep}`) || basename(project) === wanted
}

export function parseAge(age: string): number {
  const [, count, unit = "d"] = /^(\d+)([dwmy])?$/.exec(age) ?? []
  if (count === undefined)
    throw new UsageError(
      `--older-than must be a number of days, weeks, months or years such as 90d, 12w, 3m or 1y, not "${age}".`,
    )
  return Number(count) * UNITS[unit]!
}
