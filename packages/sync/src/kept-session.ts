/** Journals with their notes and stored results, as any store keeps them: read and continued byte for byte. */

import { ConversationLockedError } from "@strata/core"
import type { Clock } from "@strata/core/base"
import { ContentDiffersError, type Contents, type JournalAddress } from "@strata/core/store"

export interface KeptSession {
  /** Whole lines, with their ends. */
  readonly lines: Buffer
  /** Of its notes and stored results, as a store names them. */
  readonly names: readonly string[]
  readonly files: () => Promise<ReadonlyMap<string, Buffer>>
  readonly isOpen?: boolean
}

export const [NOTES, BLOB, OPEN] = ["notes", "blob/", "it is open in another process"]

/** Where a session is below its project, on the branch too. A sub-agent is below its conversation. */
export const pathOf = ({ id, under }: Pick<JournalAddress, "id" | "under">): string =>
  under === undefined ? id : `${under}/agents/${id}`

/** By path. */
export async function sessionsHere(contents: Contents, project: string): Promise<ReadonlyMap<string, KeptSession>> {
  const sessions = new Map<string, KeptSession>()
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
    sessions.set(pathOf(address), { lines, names, isOpen, files: () => contents.files(address, names) })
  }
  return sessions
}

interface Continuing {
  readonly contents: Contents
  readonly clock: Clock
  readonly address: JournalAddress
  /** What is there now. */
  readonly ours: KeptSession | undefined
  /** It begins with what is there. */
  readonly theirs: KeptSession
}

/** Writes what is missing, all of it or nothing. Otherwise returns why not, as the end of a sentence. */
export async function continueSession(given: Continuing): Promise<string | undefined> {
  const { contents, clock, address, ours, theirs } = given
  const [at, known] = [ours?.lines.length ?? 0, new Set(ours?.names)]
  const files = [...(await theirs.files())].map(([name, data]) => ({ name, data, replaces: name === NOTES }))
  try {
    await contents.write(
      { kind: "journal", ...address },
      {
        lines: { at, data: theirs.lines.subarray(at) },
        files: files.filter(({ name, replaces }) => replaces || !known.has(name)),
        touched: clock.now().toISOString(), // lists and search go by it
      },
    )
    return undefined
  } catch (error) {
    if (error instanceof ConversationLockedError) return OPEN
    if (error instanceof ContentDiffersError) return "it went on meanwhile; sync again"
    throw error
  }
}
