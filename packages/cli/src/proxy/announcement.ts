/**
 * Announces running proxies: one file for each in Strata's directory, readable by the user only. It contains the base URL with its secret,
 * for `strata proxy --status`, and is removed when the proxy ends.
 */
import { randomUUID } from "node:crypto"
import { rmSync } from "node:fs"
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { strataDirectory } from "@strata/core"
import type { CommandCall } from "../command.ts"

const FOLDER = "proxies"
const DIRECTORY_MODE = 0o700
const FILE_MODE = 0o600

export interface Announcement {
  readonly pid: number
  /** Base URL with the secret. */
  readonly url: string
  readonly upstream: string
  readonly cwd: string
  readonly mode: "manage" | "observe"
  /** Start time in ISO 8601. */
  readonly started: string
}

const folderIn = (env: CommandCall["env"]): string => join(strataDirectory(env), FOLDER)

/** Writes the announcement. The returned function removes it. */
export async function announce(announcement: Announcement, env: CommandCall["env"]): Promise<() => void> {
  const folder = folderIn(env)
  await mkdir(folder, { recursive: true, mode: DIRECTORY_MODE })
  const path = join(folder, `${announcement.pid}-${randomUUID()}.json`)
  const draft = `${path}.draft`
  await writeFile(draft, `${JSON.stringify(announcement)}\n`, { mode: FILE_MODE, flag: "wx" })
  await rename(draft, path)
  const takeBack = () => rmSync(path, { force: true })
  process.once("exit", takeBack)
  return () => {
    process.off("exit", takeBack)
    takeBack()
  }
}

/** Announcements of running proxies, newest last. Files of ended processes are removed. */
export async function listAnnouncements(env: CommandCall["env"]): Promise<readonly Announcement[]> {
  const folder = folderIn(env)
  const names = await readdir(folder).catch(() => [])
  const found = await Promise.all(names.map((name) => readOne(join(folder, name))))
  return found.flatMap((each) => each ?? []).toSorted((a, b) => a.started.localeCompare(b.started))
}

async function readOne(path: string): Promise<Announcement | undefined> {
  const pid = Number(/(\d+)-[^/\\]*$/.exec(path)?.[1])
  if (!isRunning(pid)) {
    await rm(path, { force: true })
    return undefined
  }
  try {
    return path.endsWith(".json") ? (JSON.parse(await readFile(path, "utf8")) as Announcement) : undefined
  } catch {
    return undefined // the proxy has just ended
  }
}

function isRunning(pid: number): boolean {
  try {
    return Number.isSafeInteger(pid) && pid > 0 && process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}
