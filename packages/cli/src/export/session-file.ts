/**
 * Finds the file of a session, given by a path or by a prefix of an id. A conversation of this project comes first, then sessions of all
 * projects and programs, then archived sessions.
 */
import { stat } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { type StoredConversation, strataDirectory } from "@strata/core"
import { journalDirectoryIn, storeFrom, storeUri } from "@strata/core/store"
import { findTranscripts, listArchivedTranscripts } from "@strata/transcripts"
import { type CommandCall, UsageError } from "../command.ts"
import { findById } from "../conversation-names.ts"
import { chooseConversation, conversationsIn, otherOwners } from "../stored-conversation.ts"

interface NamedSession {
  readonly id: string
  readonly path: string
}

export interface SessionPlace extends Pick<CommandCall, "cwd" | "env"> {
  /** Only conversations of this owner, and files. */
  readonly owner?: string | undefined
}

export async function sessionFile(name: string, { cwd, env, owner }: SessionPlace): Promise<string> {
  const path = resolve(cwd, name)
  if ((await stat(path).catch(() => undefined))?.isFile()) return path
  if (owner !== undefined) return journalPath(await chooseConversation({ cwd, env, owner, id: name }), env)
  const own = findById(name, await conversationsIn({ cwd, env, alsoUnowned: true }))
  if (own) return journalPath(own, env)
  const here = (await findTranscripts({ env })).map((found) => ({ id: sessionIdIn(found.path), path: found.path }))
  const kept = (await listArchivedTranscripts({ env })).filter(
    ({ originalExists, isEarlier }) => !originalExists && !isEarlier,
  )
  const found = chooseSession(name, [...here, ...kept])
  if (found) return found.path
  const others = await otherOwners({ cwd, env })
  const problem = `There is no file and no session ${name}. Give a transcript, or the prefix of a session id.`
  throw new UsageError(others === undefined ? problem : `${problem} ${others}`)
}

/** The file of a conversation, or its URI if the store has no files. */
function journalPath({ address }: StoredConversation, env: CommandCall["env"]): string {
  const directory = journalDirectoryIn(storeFrom({ dir: strataDirectory(env), env }), address.project)
  return directory === undefined ? storeUri(address) : join(directory, `${address.id}.jsonl`)
}

/** The id in a file name: names end with it; a session in a database follows a `#`, and Copilot names the directory. */
function sessionIdIn(path: string): string {
  const name = path.includes("#") ? path.slice(path.lastIndexOf("#") + 1) : basename(path).replace(/\.jsonl?$/, "")
  const named = name === "events" ? basename(dirname(path)) : name
  return /[_-]([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i.exec(named)?.[1] ?? named
}

function chooseSession(name: string, all: readonly NamedSession[]): NamedSession | undefined {
  const fitting = all.filter(({ id }) => id.startsWith(name))
  const found = fitting.find(({ id }) => id === name) ?? (fitting.length === 1 ? fitting[0] : undefined)
  if (!found && fitting.length > 1)
    throw new UsageError(`${fitting.length} sessions start with ${name}. Type more of the id.`)
  return found
}
