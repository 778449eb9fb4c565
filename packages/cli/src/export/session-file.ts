/**
 * Finds the file of a session, given by a path or by a prefix of the id of a Strata conversation, an external session or an archived
 * session.
 */
import { stat } from "node:fs/promises"
import { basename, dirname, resolve } from "node:path"
import { findTranscripts, listArchivedTranscripts } from "@strata/transcripts"
import { type CommandCall, UsageError } from "../command.ts"

interface NamedSession {
  readonly id: string
  readonly path: string
}

export async function sessionFile(name: string, { cwd, env }: Pick<CommandCall, "cwd" | "env">): Promise<string> {
  const path = resolve(cwd, name)
  if ((await stat(path).catch(() => undefined))?.isFile()) return path
  const here = (await findTranscripts({ env })).map((found) => ({ id: sessionIdIn(found.path), path: found.path }))
  const kept = (await listArchivedTranscripts({ env })).filter(
    ({ originalExists, isEarlier }) => !originalExists && !isEarlier,
  )
  return chooseSession(name, [...here, ...kept]).path
}

/** The id in a file name: names end with it; a session in a database follows a `#`, and Copilot names the directory. */
function sessionIdIn(path: string): string {
  const name = path.includes("#") ? path.slice(path.lastIndexOf("#") + 1) : basename(path).replace(/\.jsonl?$/, "")
  const named = name === "events" ? basename(dirname(path)) : name
  return /[_-]([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i.exec(named)?.[1] ?? named
}

function chooseSession(name: string, all: readonly NamedSession[]): NamedSession {
  const fitting = all.filter(({ id }) => id.startsWith(name))
  const found = fitting.find(({ id }) => id === name) ?? (fitting.length === 1 ? fitting[0] : undefined)
  if (found) return found
  if (fitting.length > 1) throw new UsageError(`${fitting.length} sessions start with ${name}. Type more of the id.`)
  throw new UsageError(`There is no file and no session ${name}. Give a transcript, or the prefix of a session id.`)
}
