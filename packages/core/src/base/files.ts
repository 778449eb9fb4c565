/**
 * Reads files that anyone may have put there, such as those of a clone. A pipe would wait for ever and a device has no end, so only regular
 * files are read, and only up to a size.
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

/** The file cannot be used. The message is part of a sentence: "it is a directory". */
export class PlainFileError extends Error {
  readonly code: string | undefined

  constructor(message: string, code?: string) {
    super(message)
    this.code = code
  }
}

/** The whole file. Throws a `PlainFileError` for what is not a regular file of at most so many bytes, and the system's error otherwise. */
export async function readPlainFile(path: string, max: number): Promise<Buffer> {
  const { bytes, isCut } = await readPlainStart(path, max)
  if (isCut) throw new PlainFileError(`it has more than ${max} bytes`)
  return bytes
}

/** The first bytes of a file. The size is checked while reading: a file can grow after it was looked at. */
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

/** The last bytes of a file. */
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

/** As `readPlainFile`, for the few places that cannot wait. */
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

// Facts about paths. An opening asks for dozens of them, mostly of files that do not exist. Asked synchronously each takes
// microseconds; a promise and its error cost twenty times as much.

/** Every link followed. `undefined` if it does not exist or cannot be reached. */
export function realPath(path: string): string | undefined {
  if (statIfReachable(path) === undefined) return undefined
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

/** Of what the path leads to. `undefined` if there is nothing, or it cannot be reached. */
export function statIfReachable(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Of the path itself, which may be a link. */
export function lstatIfReachable(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Certainly nothing is there. A path that cannot be reached is not missing. */
export function isMissing(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return false
  }
}

// Splits a markdown file into frontmatter and body. Frontmatter that is not valid YAML is read line by line: people write colons and quotes
// into descriptions, and other programs accept that.

export interface MarkdownFile {
  /** `undefined` if the file has no frontmatter. */
  readonly values: ReadonlyMap<string, unknown> | undefined
  readonly body: string
}

const FENCED = /^---[ \t]*\n(?:([\s\S]*?)\n)?---[ \t]*(?:\n|$)/
const KEY_LINE = /^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/
const ITEM_LINE = /^[ \t]*-[ \t]+(.*)$/
const MAX_ALIASES = 20 // aliases can multiply without end

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

/** Keys in a map, so that `__proto__` is a key like any other. `undefined` if it is not a YAML mapping. */
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

/** `key: the rest of the line`. Lines below a key that start with a dash make a list, other lines continue its text. */
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

// Loads a package that only some applications install. Its name is a value here, so that bundlers do not demand it.

/** `who`: what needs it, with its verb, as in `MCP servers need`. */
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
