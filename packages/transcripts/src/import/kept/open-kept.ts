/** The kept sessions of the person at this machine. */
import { join } from "node:path"
import type { Clock } from "@strata/core/base"
import { defaultRoot } from "@strata/core/store"
import { type Environment, type FoundTranscript, homeIn, transcriptFiles } from "../places.ts"
import { type KeptSession, KeptStore } from "./kept-store.ts"

/** Where sessions are found and kept. */
export interface KeptOptions {
  /** The person's home directory. Default: `HOME`, else that of the system. */
  readonly home?: string
  /** Default: the process's environment. */
  readonly env?: Environment
  /** Default: the system's clock. */
  readonly clock?: Clock
}

export function openKept({ env = process.env, home = homeIn(env), clock }: KeptOptions = {}): KeptStore {
  const root = env.STRATA_HOME ? defaultRoot(env) : join(home, ".strata")
  return new KeptStore({ root, found: () => transcriptFiles(env, home), ...(clock ? { clock } : {}) })
}

/** The kept sessions, newest first. `path` is what `readTranscripts` and `importConversations` take. */
export async function keptTranscripts(options: KeptOptions = {}): Promise<readonly KeptSession[]> {
  return (await openKept(options).list()).sessions
}

/** Those that are no longer where their program had them, in the form of those that are. */
export async function goneTranscripts(options: KeptOptions): Promise<readonly FoundTranscript[]> {
  return (await keptTranscripts(options))
    .filter(({ isAtPlace, isEarlier }) => !isAtPlace && !isEarlier)
    .map(({ program, path, size, modifiedMs }) => ({ program, path, size, modifiedMs, inode: 0 }))
}
