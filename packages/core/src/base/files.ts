/**
 * Reads files that anyone may have created, such as those of a cloned repository. A pipe would wait forever and a device has no end, so
 * only regular files are read, and only up to a size.
 */

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs"
import { open } from "node:fs/promises"
import { StrataError } from "./errors.ts"

const NON_BLOCKING = constants.O_RDONLY | constants.O_NONBLOCK

/** A file that cannot be used. The message is part of a sentence, such as "it is a directory". */
export class PlainFileError extends Error {
  readonly code: string | undefined

  constructor(message: string, code?: string) {
    super(message)
    this.code = code
  }
}

/**
 * Reads a complete file. Throws a `PlainFileError` if it is not a regular file of at most `max` bytes, and the system's error otherwise.
 */
export async function readPlainFile(path: string, max: number): Promise<Buffer> {
  const { bytes, isCut } = await readPlainStart(path, max)
  if (isCut) throw new PlainFileError(`it has more than ${max} bytes`)
  return bytes
}

/** Reads the first bytes of a file. The size is checked while reading, because a file can grow in the meantime. */
export async function readPlainStart(path: string, max: number): Promise<{ bytes: Buffer; isCut: boolean }> {
  const file = await open(path, NON_BLOCKING)
  try {
    const stats = await file.stat()
    assertRegularFile(stats)
    const bytes = Buffer.alloc(Math.min(max, stats.size) + 1)
    let length = 0
    for (let read = 1; read > 0 && length < bytes.length; length += read)
      read = (await file.read(bytes, length, bytes.length - length, length)).bytesRead
    return { bytes: bytes.subarray(0, Math.min(length, max)), isCut: length > max }
  } finally {
    await file.close()
  }
}

/** Reads the last bytes of a file. */
export async function readPlainEnd(path: string, max: number): Promise<Buffer> {
  const file = await open(path, NON_BLOCKING)
  try {
    const stats = await file.stat()
    assertRegularFile(stats)
    const bytes = Buffer.alloc(Math.min(max, stats.size))
    const { bytesRead } = await file.read(bytes, 0, bytes.length, stats.size - bytes.length)
    return bytes.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** Like `readPlainFile`, for the few callers that must be synchronous. */
export function readPlainFileSync(path: string, max: number): Buffer {
  const file = openSync(path, NON_BLOCKING)
  try {
    const stats = fstatSync(file)
    assertRegularFile(stats)
    const bytes = Buffer.alloc(Math.min(max, stats.size) + 1)
    let length = 0
    for (let read = 1; read > 0 && length < bytes.length; length += read)
      read = readSync(file, bytes, length, bytes.length - length, length)
    if (length > max) throw new PlainFileError(`it has more than ${max} bytes`)
    return bytes.subarray(0, length)
  } finally {
    closeSync(file)
  }
}

function assertRegularFile(stats: { isDirectory(): boolean; isFile(): boolean }): void {
  if (stats.isDirectory()) throw new PlainFileError("it is a directory", "EISDIR")
  if (!stats.isFile()) throw new PlainFileError("it is not a regular file")
}

// Facts about paths. Opening a conversation needs dozens of them, mostly of files that do not exist. A synchronous call takes microseconds;
// a promise and its error cost twenty times as much.

/** The path with all links resolved. `undefined` if it does not exist or cannot be reached. */
export function realPath(path: string): string | undefined {
  if (statIfReachable(path) === undefined) return undefined
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

/** Stats the target of a path. `undefined` if it does not exist or cannot be reached. */
export function statIfReachable(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Stats the path itself, which may be a link. `undefined` if it does not exist or cannot be reached. */
export function lstatIfReachable(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Whether the path certainly does not exist. A path that cannot be reached is not missing. */
export function isMissing(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return false
  }
}

// Splits a markdown file into frontmatter and body. Frontmatter that is not valid YAML is read line by line, because users write colons and
// quotes into descriptions and other programs accept that.

export interface MarkdownFile {
  /** `undefined` if the file has no frontmatter. */
  readonly values: ReadonlyMap<string, unknown> | undefined
  readonly body: string
}

const FENCED = /^---[ \t]*\n(?:([\s\S]*?)\n)?---[ \t]*(?:\n|$)/
const KEY_LINE = /^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/
const ITEM_LINE = /^[ \t]*-[ \t]+(.*)$/
const MAX_ALIASES = 20 // nested aliases can multiply exponentially

export async function readMarkdown(text: string): Promise<MarkdownFile> {
  const plain = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n")
  const match = FENCED.exec(plain)
  if (!match) return { values: undefined, body: plain.trim() }
  const frontmatter = match[1] ?? ""
  return {
    values: (await yamlValues(frontmatter)) ?? lineValues(frontmatter),
    body: plain.slice(match[0].length).trim(),
  }
}

/** Returns the keys as a map, so that `__proto__` is a key like any other. `undefined` if the text is not a YAML mapping. */
async function yamlValues(text: string): Promise<ReadonlyMap<string, unknown> | undefined> {
  const { isMap, parseDocument } = await import("yaml")
  const document = parseDocument(text, { prettyErrors: false, uniqueKeys: false })
  if (document.errors.length > 0) return undefined
  if (document.contents === null) return new Map()
  if (!isMap(document.contents)) return undefined
  try {
    const values: unknown = document.toJS({ maxAliasCount: MAX_ALIASES, mapAsMap: true })
    return new Map([...(values as Map<unknown, unknown>)].map(([key, value]) => [String(key), value]))
  } catch {
    return undefined
  }
}

/** Parses lines of the form `key: value`. Following lines that start with a dash form a list; other lines continue the value. */
function lineValues(text: string): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>()
  let key: string | undefined
  for (const line of text.split("\n")) {
    const [, name, rest = ""] = KEY_LINE.exec(line) ?? []
    if (name !== undefined) {
      key = name
      values.set(key, withoutQuotes(rest.trim()))
      continue
    }
    if (key === undefined || line.trim() === "") continue
    const before = values.get(key)
    const item = ITEM_LINE.exec(line)?.[1]
    if (item !== undefined && (before === "" || Array.isArray(before)))
      values.set(key, [...(Array.isArray(before) ? before : []), withoutQuotes(item.trim())])
    else if (typeof before === "string") values.set(key, `${before} ${line.trim()}`.trim())
  }
  return values
}

const withoutQuotes = (text: string): string => /^(["'])(.*)\1$/.exec(text)?.[2] ?? text

// Loads a package that only some applications install. Its name is passed as a value, so that bundlers do not require it.

/** `who` names the feature with its verb, as in `MCP servers need`. */
export async function optionalPackage<Module>(name: string, who: string): Promise<Module> {
  try {
    return (await import(name)) as Module
  } catch (error) {
    throw new StrataError(`${who} the package ${name}. Install it: npm install ${name}`, {
      code: "package-missing",
      cause: error,
    })
  }
}
