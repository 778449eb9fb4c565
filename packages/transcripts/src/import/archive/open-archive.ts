/** Opens the session archive of the user of this machine. */
import { join } from "node:path"
import type { Clock } from "@strata/core/base"
import { strataDirectory } from "@strata/core/store"
import { type Environment, type FoundTranscript, homeIn, transcriptFiles } from "../find-transcripts.ts"
import { type ArchivedSession, SessionArchive } from "./session-archive.ts"

/** Options for finding and archiving sessions. */
export interface OpenArchiveOptions {
  /** The user's home directory. Default: `HOME`, else that of the system. */
  readonly home?: string
  /** Default: the process's environment. */
  readonly env?: Environment
  /** Default: the system's clock. */
  readonly clock?: Clock
}

export function openSessionArchive({
  env = process.env,
  home = homeIn(env),
  clock,
}: OpenArchiveOptions = {}): SessionArchive {
  const root = env.STRATA_HOME ? strataDirectory(env) : join(home, ".strata")
  return new SessionArchive({ root, found: () => transcriptFiles(env, home), ...(clock ? { clock } : {}) })
}

/** Lists archived sessions, newest first. Pass their `path` to `readTranscripts` or `importConversations`. */
export async function listArchivedTranscripts(options: OpenArchiveOptions = {}): Promise<readonly ArchivedSession[]> {
  return (await openSessionArchive(options).list()).sessions
}

/** Archived sessions whose original file is gone, in the form of found transcripts. */
export async function listDeletedTranscripts(options: OpenArchiveOptions): Promise<readonly FoundTranscript[]> {
  return (await listArchivedTranscripts(options))
    .filter(({ originalExists, isEarlier }) => !originalExists && !isEarlier)
    .map(({ program, path, size, modifiedMs }) => ({ program, path, size, modifiedMs, inode: 0 }))
}
