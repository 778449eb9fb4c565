/** Stored journals with their notes and offloaded results, which sync copies and extends byte for byte. */

import { ConversationLockedError } from "@strata/core"
import type { Clock } from "@strata/core/base"
import { ContentDiffersError, type Contents, type JournalAddress } from "@strata/core/store"

export interface StoredSession {
  /** Complete lines with their line ends. */
  readonly lines: Buffer
  /** Names of the notes and the offloaded results, as the store uses them. */
  readonly names: readonly string[]
  readonly files: () => Promise<ReadonlyMap<string, Buffer>>
  readonly isOpen?: boolean
}

export const [NOTES, BLOB, OPEN] = ["notes", "blob/", "it is open in another process"]

/** Path of a session relative to its project, on the branch too. A sub-agent's session is in the `agents` folder of its conversation. */
export const sessionPath = ({ id, under }: Pick<JournalAddress, "id" | "under">): string =>
  under === undefined ? id : `${under}/agents/${id}`

/** Lists the sessions of a project on this machine by path. */
export async function listLocalSessions(
  contents: Contents,
  project: string,
): Promise<ReadonlyMap<string, StoredSession>> {
  const sessions = new Map<string, StoredSession>()
  for await (const { address, lines: size = 0, files, isOpen = false } of contents.list({ project })) {
    if (address.kind !== "journal") continue
    const parts: Buffer[] = []
    for (let at = 0; at < size; at += parts.at(-1)!.length) {
      const part = await contents.lines(address, at)
      if (part.length === 0) break
      parts.push(part)
    }
    const lines = Buffer.concat(parts).subarray(0, size)
    const names = files.map(({ name }) => name).filter((name) => name === NOTES || name.startsWith(BLOB))
    sessions.set(sessionPath(address), { lines, names, isOpen, files: () => contents.files(address, names) })
  }
  return sessions
}

interface ContinueSessionOptions {
  readonly contents: Contents
  readonly clock: Clock
  readonly address: JournalAddress
  /** The session on this machine, if it exists here. */
  readonly ours: StoredSession | undefined
  /** The remote session, whose lines begin with all lines of `ours`. */
  readonly theirs: StoredSession
}

/** Appends what is missing, all of it or nothing. Otherwise returns the reason as the end of a sentence. */
export async function continueSession(options: ContinueSessionOptions): Promise<string | undefined> {
  const { contents, clock, address, ours, theirs } = options
  const [at, known] = [ours?.lines.length ?? 0, new Set(ours?.names)]
  const files = [...(await theirs.files())].map(([name, data]) => ({ name, data, replaces: name === NOTES }))
  try {
    await contents.write(
      { kind: "journal", ...address },
      {
        lines: { at, data: theirs.lines.subarray(at) },
        files: files.filter(({ name, replaces }) => replaces || !known.has(name)),
        touched: clock.now().toISOString(), // lists and search sort by this time
      },
    )
    return undefined
  } catch (error) {
    if (error instanceof ConversationLockedError) return OPEN
    if (error instanceof ContentDiffersError) return "it was continued during the sync; sync again"
    throw error
  }
}
