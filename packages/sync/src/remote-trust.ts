/** Stores the user's answer on who writes to each remote, in Strata's directory on this machine. An unreadable file counts as no answer. */
import { randomUUID } from "node:crypto"
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { RemoteTrust } from "./merge/decide.ts"
import type { SyncRemote } from "./remote.ts"

const OWNER_ONLY = { directory: 0o700, file: 0o600 }

const fileOf = (root: string, { key }: SyncRemote): string => join(root, "sync", `${key}.json`)

export async function rememberedTrust(root: string, remote: SyncRemote): Promise<RemoteTrust | undefined> {
  try {
    const { remote: title, trust } = JSON.parse(await readFile(fileOf(root, remote), "utf8")) as Record<string, unknown>
    return title === remote.title && (trust === "mine" || trust === "shared") ? trust : undefined
  } catch {
    return undefined
  }
}

/** Written atomically, so that two processes cannot damage each other's answers. */
export async function rememberTrust(
  root: string,
  { remote, trust, now }: { readonly remote: SyncRemote; readonly trust: RemoteTrust; readonly now: Date },
): Promise<void> {
  const file = fileOf(root, remote)
  const draft = `${file}.${randomUUID()}.draft`
  await mkdir(join(root, "sync"), { recursive: true, mode: OWNER_ONLY.directory })
  try {
    const record = { remote: remote.title, trust, since: now.toISOString() }
    await writeFile(draft, `${JSON.stringify(record, undefined, 2)}\n`, { mode: OWNER_ONLY.file, flush: true })
    await rename(draft, file)
  } finally {
    await rm(draft, { force: true })
  }
}
