/**
 * Changes to the files of another agent: shown first, with a copy of what was there, and taken back to the exact bytes. A file that someone
 * has changed since loses only what was added.
 */
import { hash } from "node:crypto"
import { mkdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { StrataError } from "@strata/core"

/** One file: its text, or `undefined` where it does not exist. */
export interface FileChange {
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** What is kept about an installation. */
export interface Installed {
  readonly version: 1
  readonly client: string
  readonly files: readonly { readonly path: string; readonly before: string | null; readonly after: string }[]
}

export async function textIn(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8")
  } catch (error) {
    if (Object(error).code === "ENOENT") return undefined
    throw error
  }
}

/** The copy first: whatever happens then, nothing is lost. */
export async function applyChanges(client: string, changes: readonly FileChange[], home: string): Promise<void> {
  const files = changes.map(({ path, before, after }) => ({ path, before: before ?? null, after: digest(after ?? "") }))
  await write(
    recordFile(home, client),
    `${JSON.stringify({ version: 1, client, files } satisfies Installed, null, 2)}\n`,
  )
  for (const { path, after } of changes) if (after !== undefined) await write(path, after)
}

export async function readInstalled(client: string, home: string): Promise<Installed | undefined> {
  const text = await textIn(recordFile(home, client))
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as Installed
  } catch {
    throw new StrataError(
      `The copy of what was there before is damaged: ${recordFile(home, client)}. Nothing was changed. Remove the settings of Strata by hand, then this file.`,
    )
  }
}

/** How each file would be: as it was, if no one has changed it since; otherwise without what was added. */
export async function changesBack(
  { files }: Installed,
  without: (path: string, text: string) => string | undefined,
): Promise<readonly FileChange[]> {
  const changes: FileChange[] = []
  for (const { path, before, after } of files) {
    const now = await textIn(path)
    if (now === undefined) continue // someone removed it
    const isOurs = digest(now) === after
    changes.push({ path, before: now, after: isOurs ? (before ?? undefined) : without(path, now) })
  }
  return changes
}

export async function takeBack(client: string, changes: readonly FileChange[], home: string): Promise<void> {
  for (const { path, after } of changes) {
    if (after === undefined) await rm(path)
    else await write(path, after)
  }
  await rm(recordFile(home, client))
}

/** A link stays a link, and a file keeps its permissions. */
async function write(given: string, text: string): Promise<void> {
  const path = await realpath(given).catch(() => given)
  const mode = (await stat(path).catch(() => undefined))?.mode ?? 0o600
  await mkdir(dirname(path), { recursive: true })
  const beside = `${path}.strata-new`
  await writeFile(beside, text, { mode, flush: true })
  await rename(beside, path)
}

const recordFile = (home: string, client: string) => join(home, "installed", `${client}.json`)
const digest = (text: string) => hash("sha256", text, "hex")
