/** Renders archived sessions for a terminal. */
import { homedir } from "node:os"
import type { ArchivedSession, ArchiveList, ArchiveReport } from "@strata/transcripts"
import { UsageError } from "../command.ts"
import { describeAge, formatNumber, pluralize } from "../display/numbers.ts"
import { table } from "../display/table.ts"
import type { Terminal } from "../display/terminal.ts"
import { escapeToLine } from "../display/visible.ts"

const UNITS = ["bytes", "KB", "MB", "GB", "TB"]

/** Uses powers of 1,000, like disk vendors and `du --si`. */
export function formatBytes(count: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, count)) / 3)))
  if (power === 0) return `${formatNumber(count)} bytes`
  return `${(count / 1000 ** power).toFixed(1)} ${UNITS[power]}`
}

interface ArchivePageOptions {
  readonly terminal: Terminal
  readonly now: Date
}

export function archivePage(
  { sessions, storedBytes, damaged }: ArchiveList,
  { terminal, now }: ArchivePageOptions,
): readonly string[] {
  if (sessions.length + damaged.length === 0)
    return ['No session is archived yet. "strata archive" copies those on this machine.']
  const size = sessions.reduce((sum, each) => sum + each.size, 0)
  const gone = sessions.filter(({ originalExists }) => !originalExists).length
  return [
    `${pluralize(sessions.length, "session")} archived, ${formatBytes(size)} in ${formatBytes(storedBytes)}; the files of ${gone} of them no longer exist.`,
    "",
    ...sessionTable(sessions, { terminal, now }),
    ...damaged.map(
      (file) =>
        `A record is damaged: ${escapeToLine(file)}. "strata archive check" repairs it if its session still exists.`,
    ),
  ]
}

export function sessionTable(
  sessions: readonly ArchivedSession[],
  { terminal, now }: ArchivePageOptions,
): readonly string[] {
  return table({
    columns: [
      { title: "session" },
      { title: "project", gives: "beginning" },
      { title: "title", gives: "end" },
      { title: "age", isMinor: true },
      { title: "size", align: "right", isMinor: true },
      { title: "kept", align: "right" },
      { title: "its file" },
    ],
    rows: sessions.map((session) => [
      shortId(session, sessions),
      shortPath(session.project ?? session.program),
      escapeToLine(session.title ?? ""),
      describeAge(new Date(session.modifiedMs).toISOString(), now),
      formatBytes(session.size),
      formatBytes(session.storedBytes),
      session.isEarlier ? "replaced" : session.originalExists ? "there" : "gone",
    ]),
    width: terminal.columns,
    titles: terminal.style.bold,
  })
}

/** The shortest unique prefix of the id. Two versions of one session have different keys. */
function shortId({ id, key, isEarlier }: ArchivedSession, sessions: readonly ArchivedSession[]): string {
  if (isEarlier) return key
  const others = sessions.filter((other) => other.key !== key && !other.isEarlier).map((other) => other.id)
  for (let length = 8; length < id.length; length += 4)
    if (!others.some((other) => other.startsWith(id.slice(0, length)))) return id.slice(0, length)
  return id
}

function shortPath(path: string): string {
  const home = homedir()
  return escapeToLine(path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path)
}

/** Finds a session by a prefix of its id or key. The current version takes precedence over earlier ones. */
export function findSession(name: string, sessions: readonly ArchivedSession[]): ArchivedSession {
  const fitting = sessions.filter(({ id, key }) => id.startsWith(name) || key.startsWith(name))
  const exact = fitting.find(({ id, key, isEarlier }) => key === name || (id === name && !isEarlier))
  const newest = fitting.filter(({ isEarlier }) => !isEarlier)
  const found = exact ?? (newest.length === 1 ? newest[0] : fitting.length === 1 ? fitting[0] : undefined)
  if (found) return found
  if (fitting.length > 1)
    throw new UsageError(`${fitting.length} archived sessions start with ${name}. Give a longer prefix.`)
  throw new UsageError(`No archived session starts with ${name}. "strata archive list" shows them.`)
}

interface ArchiveResult extends ArchiveReport {
  readonly storedBytes: number
  readonly dryRun: boolean
}

export function describeArchiveResult({
  added,
  grown,
  unchanged,
  erased,
  bytes: read,
  storedBytes,
  dryRun,
}: ArchiveResult): readonly string[] {
  const parts = [`${added} new`, `${grown} grown`, `${unchanged} unchanged`]
  const skipped =
    erased === 0
      ? []
      : [
          `${pluralize(erased, "session")} skipped, because you erased ${erased === 1 ? "it" : "them"}. --again archives such sessions.`,
        ]
  if (dryRun)
    return [`Would archive: ${parts.join(", ")}; ${formatBytes(read)} to read. Nothing was written.`, ...skipped]
  return [
    `Kept: ${parts.join(", ")}; ${formatBytes(read)} read. The store takes ${formatBytes(storedBytes)}.`,
    ...skipped,
    "The copies are complete, including secrets. They stay on this machine, and only you can read them.",
  ]
}
