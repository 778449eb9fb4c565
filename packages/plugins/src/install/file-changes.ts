/**
 * Changes to the files of another agent: displayed first, applied with a backup, and reverted to the exact bytes. A file that was changed
 * since loses only Strata's additions. Changes that another program made after the display are never overwritten.
 */
import { isUtf8 } from "node:buffer"
import { hash, randomUUID } from "node:crypto"
import { mkdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { StrataError } from "@strata/core"

/** The texts of one file; `undefined` if it does not exist. */
export interface FileChange {
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** The stored record of an installation. */
export interface InstallationRecord {
  readonly version: 1
  readonly client: string
  readonly files: readonly { readonly path: string; readonly before: string | null; readonly after: string }[]
}

/** `changed`: a file differs from when the change was planned. Nothing was written. */
export type ChangeOutcome = "applied" | "changed"

/** Refuses binary files, because they could not be restored from text. */
export async function textIn(path: string): Promise<string | undefined> {
  const bytes = await readFile(path).catch((error: unknown) => {
    if (Object(error).code === "ENOENT") return undefined
    throw error
  })
  if (bytes && !isUtf8(bytes))
    throw new StrataError(
      `The file ${path} is not encoded in UTF-8, so Strata cannot change it safely. Nothing was changed. Save it as UTF-8, then try again.`,
    )
  return bytes?.toString()
}

/** Writes the backup first, so that nothing is lost whatever happens then. */
export async function applyChanges(
  client: string,
  changes: readonly FileChange[],
  home: string,
): Promise<ChangeOutcome> {
  const files = changes.map(({ path, before, after }) => ({ path, before: before ?? null, after: digest(after ?? "") }))
  const record = recordFile(home, client)
  const text = `${JSON.stringify({ version: 1, client, files } satisfies InstallationRecord, null, 2)}\n`
  await replaceFile({ path: record, before: await textIn(record), after: text })
  const outcome = await replaceFiles(changes)
  if (outcome === "changed") await rm(record)
  return outcome
}

export async function readInstallation(client: string, home: string): Promise<InstallationRecord | undefined> {
  const text = await textIn(recordFile(home, client))
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as InstallationRecord
  } catch {
    throw new StrataError(
      `The backup of the original settings is damaged: ${recordFile(home, client)}. Nothing was changed. Remove Strata's settings manually, then this file.`,
    )
  }
}

/** The reverted text of each file: the original one if it was not changed since, otherwise the current one without Strata's additions. */
export async function planRevert(
  { files }: InstallationRecord,
  without: (path: string, text: string) => string | undefined,
): Promise<readonly FileChange[]> {
  const changes: FileChange[] = []
  for (const { path, before, after } of files) {
    const now = await textIn(path)
    if (now === undefined) continue // deleted meanwhile
    const isOurs = digest(now) === after
    changes.push({ path, before: now, after: isOurs ? (before ?? undefined) : without(path, now) })
  }
  return changes
}

export async function revertChanges(
  client: string,
  changes: readonly FileChange[],
  home: string,
): Promise<ChangeOutcome> {
  const outcome = await replaceFiles(changes)
  if (outcome === "applied") await rm(recordFile(home, client))
  return outcome
}

/** Replaces all files or none. */
async function replaceFiles(changes: readonly FileChange[]): Promise<ChangeOutcome> {
  for (const [at, change] of changes.entries()) {
    if ((await replaceFile(change)) === "applied") continue
    for (const { path, before, after } of changes.slice(0, at))
      await replaceFile({ path, before: after, after: before })
    return "changed"
  }
  return "applied"
}

/**
 * The only function that writes a file of another agent. It compares immediately before the rename, when the new text is already on disk. A
 * link stays a link, and a file keeps its permissions.
 */
async function replaceFile({ path: given, before, after }: FileChange): Promise<ChangeOutcome> {
  const path = await realpath(given).catch(() => given)
  const mode = (await stat(path).catch(() => undefined))?.mode ?? 0o600
  await mkdir(dirname(path), { recursive: true })
  const draft = `${path}.strata-${randomUUID()}`
  try {
    if (after !== undefined) await writeFile(draft, after, { mode, flag: "wx", flush: true })
    if ((await textIn(path)) !== before) return "changed"
    if (after === undefined) await rm(path, { force: true })
    else await rename(draft, path)
    return "applied"
  } finally {
    await rm(draft, { force: true })
  }
}

const recordFile = (home: string, client: string) => join(home, "installed", `${client}.json`)
const digest = (text: string) => hash("sha256", text, "hex")
