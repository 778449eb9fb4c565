/** The kept sessions of the person at this machine. */
import { join } from "node:path"
import type { Clock } from "@strata/core/base"
import { strataDirectory } from "@strata/core/store"
import { type Environment, type FoundTranscript, homeIn, transcriptFiles } from "../places.ts"
import { type ArchivedSession, SessionArchive } from "./kept-store.ts"

/** Where sessions are found and kept. */
export interface KeptOptions {
  /** The person's home directory. Default: `HOME`, else that of the system. */
  readonly home?: string
  /** Default: the process's environment. */
  readonly env?: Environment
  /** Default: the system's clock. */
  readonly clock?: Clock
}

export function openSessionArchive({ env = process.env, home = homeIn(env), clock }: KeptOptions = {}): SessionArchive {
  const root = env.STRATA_HOME ? strataDirectory(env) : join(home, ".strata")
  return new SessionArchive({ root, found: () => transcriptFiles(env, home), ...(clock ? { clock } : {}) })
}

/** The kept sessions, newest first. `path` is what `readTranscripts` and `importConversations` take. */
export async function listArchivedTranscripts(options: KeptOptions = {}): Promise<readonly ArchivedSession[]> {
  return (await openSessionArchive(options).list()).sessions
}

/** Those that are no longer where their program had them, in the form of those that are. */
export async function goneTranscripts(options: KeptOptions): Promise<readonly FoundTranscript[]> {
  return (await listArchivedTranscripts(options))
    .filter(({ isAtPlace, isEarlier }) => !isAtPlace && !isEarlier)
    .map(({ program, path, size, modifiedMs }) => ({ program, path, size, modifiedMs, inode: 0 }))
}
