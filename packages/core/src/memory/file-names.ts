/** File names of memories: derived from their names in any script, never from ids or paths from outside. */

import { relative, sep } from "node:path"
import { MemoryFileError } from "../base/errors.ts"
import { validateMemoryPath } from "../journal/memory-files.ts"

export const INDEX_FILE = "MEMORY.md"
export const ARCHIVE = "archive"
/** The search index of the memories, in their directory. */
export const SEARCH_INDEX = ".search.sqlite"
/** The size limit of a memory file. */
export const MAX_MEMORY_BYTES = 256 * 1024
const LOGS = "logs" // daily logs, which consolidation reads
const MAX_SLUG_BYTES = 120

/** Whether a file is a memory. The index, the archive, the logs and hidden files are not. */
export function isTopicFile(path: string): boolean {
  const parts = path.split("/")
  return (
    path.toLowerCase().endsWith(".md") &&
    path.toLowerCase() !== INDEX_FILE.toLowerCase() &&
    parts[0] !== ARCHIVE &&
    parts[0] !== LOGS &&
    !parts.some((part) => part.startsWith("."))
  )
}

/** The file name within the memory directory, if the path is inside it. */
export function memoryFileName(path: string, directory: string): string | undefined {
  const name = relative(directory, path)
  return name === "" || name.startsWith("..") || name === path ? undefined : name.split(sep).join("/")
}

/** Returns the path if a memory may be written there; throws otherwise. */
export function validateTopicFile(path: string): string {
  validateMemoryPath(path)
  if (!isTopicFile(path))
    throw new MemoryFileError(
      path,
      `a memory is a file that ends in .md, outside ${ARCHIVE}/ and ${LOGS}/, and not the index`,
    )
  return path
}

/** An unused file name for a memory's name, also on file systems that ignore case. */
export const fileNameFor = (name: string, taken: Iterable<string>): string =>
  freeFileName(name, new Set([...taken].map((path) => path.toLowerCase())))

/** `used`: names in lower case. */
export function freeFileName(name: string, used: ReadonlySet<string>): string {
  const slug = toSlug(name)
  for (let count = 1; ; count++) {
    const file = `${slug}${count === 1 ? "" : `-${count}`}.md`
    if (!used.has(file.toLowerCase()) && isTopicFile(file)) return file
  }
}

function toSlug(name: string): string {
  const words = name
    .normalize("NFC")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "")
  let slug = ""
  for (const character of words) {
    if (Buffer.byteLength(slug + character) > MAX_SLUG_BYTES) break
    slug += character
  }
  if (slug === "" || slug === "memory") return "note" // memory.md would be the index on file systems that ignore case
  return /^(?:con|prn|aux|nul|com\d|lpt\d)$/.test(slug) ? `${slug}-note` : slug.replace(/-+$/, "")
}
