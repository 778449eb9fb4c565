/**
 * The copy of the memory that a dream works on. The memory itself stays unchanged until the complete change is installed. Secrets that
 * someone typed into it are masked in the copy.
 */
import { lstat, mkdir, readdir, readFile, realpath, writeFile } from "node:fs/promises"
import { dirname, join, relative, sep } from "node:path"
import { maskSecrets } from "../../base/secrets/find-secrets.ts"
import { DIRECTORY_MODE, FILE_MODE } from "../../journal/file/layout.ts"
import type { MemoryFiles } from "../../journal/memory-files.ts"
import { INDEX_FILE, isTopicFile, MAX_MEMORY_BYTES } from "../../memory/file-names.ts"

const LOGS = "logs/"
const MAX_LOG_BYTES = 2 * 1024 * 1024 // all daily logs together

export interface MemoryCopy {
  /** Path of the copy, with links followed. */
  readonly directory: string
  /** Exact texts of the memories and the index when the copy was made. */
  readonly base: ReadonlyMap<string, string>
  /** Memories and folders that could not be read. They are not part of the copy. */
  readonly unread: readonly string[]
  /** The differences so far; `null`: the file was removed or emptied. Files that cannot be memories are ignored. */
  changes(): Promise<ReadonlyMap<string, string | null>>
}

interface CopyOptions {
  readonly files: MemoryFiles
  /** A new directory for the copy. */
  readonly directory: string
  /** Daily logs since this day are copied too. */
  readonly since?: Date | undefined
}

export async function copyMemory({ files, directory, since }: CopyOptions): Promise<MemoryCopy> {
  await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE })
  const base = new Map<string, string>()
  const copied = new Map<string, string>()
  const unread: string[] = []
  let logBytes = 0
  const listed = await files.list()
  unread.push(...listed.filter(({ isUnlistable }) => isUnlistable).map(({ path }) => path))
  const isWanted = (path: string) => isLogSince(path, since) || isTopicFile(path) || path === INDEX_FILE
  const paths = listed.filter(({ path, isUnlistable }) => !isUnlistable && isWanted(path)).map(({ path }) => path)
  for (const file of await files.readAll({ folders: [], paths, maxBytes: MAX_MEMORY_BYTES })) {
    const { path, bytes, text, error } = file
    const isLog = isLogSince(path, since)
    if (isLog && (bytes > MAX_MEMORY_BYTES || logBytes + bytes > MAX_LOG_BYTES)) continue
    if (error !== undefined || bytes > MAX_MEMORY_BYTES) unread.push(path)
    if (text === undefined) continue // too large, no text, or removed in the meantime
    const shown = maskSecrets(text)
    await mkdir(dirname(join(directory, path)), { recursive: true, mode: DIRECTORY_MODE })
    await writeFile(join(directory, path), shown, { mode: FILE_MODE })
    if (isLog) logBytes += bytes
    else {
      base.set(path, text)
      copied.set(path, shown)
    }
  }
  const real = await realpath(directory)
  return {
    directory: real,
    base,
    unread,
    async changes() {
      const now = await readCopy(real)
      const texts = new Map<string, string | null>()
      for (const [path, text] of now) if (copied.get(path) !== text && text.trim() !== "") texts.set(path, text)
      for (const path of copied.keys()) if ((now.get(path) ?? "").trim() === "") texts.set(path, null)
      return texts
    },
  }
}

/** Whether the path is a daily log since this day. Daily logs are named by their day. */
export function isLogSince(path: string, since: Date | undefined): boolean {
  const day = path.startsWith(LOGS) ? /(\d{4}-\d{2}-\d{2})\.md$/.exec(path)?.[1] : undefined
  return day !== undefined && (since === undefined || day >= since.toISOString().slice(0, day.length))
}

async function readCopy(directory: string): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>()
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    const file = join(entry.parentPath, entry.name)
    const path = relative(directory, file).split(sep).join("/")
    if (!entry.isFile() || path.startsWith(LOGS)) continue
    const isMemory = (isTopicFile(path) || path === INDEX_FILE) && (await lstat(file)).size <= MAX_MEMORY_BYTES
    if (isMemory) texts.set(path, await readFile(file, "utf8"))
  }
  return texts
}
