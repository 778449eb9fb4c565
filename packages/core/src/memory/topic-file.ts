/**
 * Topic files: one memory as markdown with frontmatter. Reading accepts what users and other programs write; rendering changes only
 * what differs, so comments, unknown keys and line endings stay.
 */

import { basename } from "node:path/posix"
import { isDeepStrictEqual as isSame } from "node:util"
import type { Document } from "yaml"
import { findSecrets, maskSecrets } from "../base/secrets/find-secrets.ts"
import { isUserMemory, MEMORY_BASES, MEMORY_TYPES, type Memory, type MemoryBasis, type MemorySource } from "./memory.ts"

/**
 * Reads frontmatter in the form that Strata writes, much faster than a YAML parser. Anything else is left to the parser: whatever this
 * module reads, the parser reads the same way.
 */
const KEYS: ReadonlySet<string> = new Set([
  ...["name", "description", "type", "created", "confirmed", "basis", "failed", "superseded-by", "doubted-by"],
  ...["said-by", "conversation", "message", "outside", "confirmed-by"],
])
const PAIR = /^( {2})?([a-z-]+): (\S.*)$/
const OPENING = /^(source|supersedes):$/
const ITEM = /^ {2}- (\S.*)$/
/** Characters that end a line or are dropped in some parsers, but not in all. A line feed ends a line in all of them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones
const ODD = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\uFEFF]/
const PLAIN = /^[\p{L}\p{N}(/_][^\n]*$/u
const SPECIAL = /^(?:true|false|null|0[xo][\da-f]+)$/i

type Value = string | true | readonly string[] | Readonly<Record<string, string>>

/** Returns `undefined` if the text needs a parser. */
export function readPlainFrontmatter(text: string): Readonly<Record<string, unknown>> | undefined {
  if (ODD.test(text)) return undefined
  const values: Record<string, Value> = {}
  let open: { readonly key: string; readonly pairs: Record<string, string>; readonly items: string[] } | undefined
  const put = (key: string, value: Value): boolean => {
    if (Object.hasOwn(values, key)) return false
    values[key] = value
    return true
  }
  const close = (): boolean => {
    if (!open) return true
    const { key, pairs, items } = open
    open = undefined
    const isMap = Object.keys(pairs).length > 0
    if (isMap === items.length > 0) return false // neither, or both
    return put(key, isMap ? pairs : items)
  }
  for (const line of text.split("\n")) {
    const [, indent, key, written] = PAIR.exec(line) ?? []
    const opening = key === undefined ? OPENING.exec(line)?.[1] : undefined
    const item = key === undefined ? ITEM.exec(line)?.[1] : undefined
    if (opening !== undefined) {
      if (!close()) return undefined
      open = { key: opening, pairs: {}, items: [] }
    } else if (item !== undefined) {
      const value = parseScalar(item)
      if (!open || value === undefined) return undefined
      open.items.push(value)
    } else if (key !== undefined && KEYS.has(key)) {
      const value = parseScalar(written!)
      const isFlag = key === "failed" && written === "true" && indent === undefined
      if (value === undefined && !isFlag) return undefined
      if (indent === undefined) {
        if (!close() || !put(key, value ?? true)) return undefined
      } else if (!open || Object.hasOwn(open.pairs, key)) return undefined
      else open.pairs[key] = value!
    } else return undefined
  }
  return close() ? values : undefined
}

/** A string on one line, or `undefined` if only a parser can read it. */
function parseScalar(written: string): string | undefined {
  if (written !== written.trimEnd()) return undefined
  if (written.startsWith('"')) return parseDoubleQuoted(written)
  if (written.startsWith("'"))
    return /^'(?:[^']|'')*'$/.test(written) ? written.slice(1, -1).replaceAll("''", "'") : undefined
  const isString = PLAIN.test(written) && !SPECIAL.test(written) && Number.isNaN(Number(written))
  return isString && !/:(?:\s|$)|\s#/.test(written) ? written : undefined
}

/** A string quoted as in JSON. YAML has more escapes, and leaves lone surrogates unchanged. */
function parseDoubleQuoted(written: string): string | undefined {
  if (!/^"(?:[^"\\]|\\["\\nt])*"$/.test(written)) return undefined
  return JSON.parse(written) as string
}

/** Facts about a file that its text does not contain. */
export interface MemoryFileFacts {
  /** ISO time or date. */
  readonly created: string
  readonly confirmed?: string
  readonly source: MemorySource
}

const MAX_NAME_CHARACTERS = 120

interface MemoryFileText {
  readonly file: string
  readonly text: string
  readonly facts: MemoryFileFacts
}

export async function parseMemory({ file, text, facts }: MemoryFileText): Promise<Memory> {
  const { values, body } = readPlainFile(text) ?? (await splitFile(text))
  const { source } = facts // never taken from the file: its writer could claim any source
  const created = readTime(values.created) ?? facts.created
  const supersedes = fileList(values.supersedes)
  const supersededBy = fileList(values["superseded-by"])[0]
  const doubtedBy = fileList(values["doubted-by"])[0]
  return {
    file,
    name: oneLine(values.name) || firstHeading(body) || basename(file, ".md"),
    description: oneLine(values.description) || firstSentence(body),
    type: oneOf(MEMORY_TYPES, values.type) ?? "project",
    created,
    confirmed: readTime(values.confirmed) ?? facts.confirmed ?? created,
    source,
    basis: validBasis(oneOf(MEMORY_BASES, values.basis), source),
    ...(values.failed === true ? { failed: true as const } : {}),
    ...(supersedes.length > 0 ? { supersedes } : {}),
    ...(supersededBy === undefined ? {} : { supersededBy }),
    ...(doubtedBy === undefined ? {} : { doubtedBy }),
    body,
  }
}

interface PreviousText {
  readonly text: string
  readonly facts: MemoryFileFacts
}

/** The file's text for a memory. With `previous`, unchanged parts keep their text, except for a wrong source. */
export async function renderMemory(memory: Memory, previous?: PreviousText): Promise<string> {
  const { Document, isMap } = await import("yaml")
  const old = previous && (await splitFile(previous.text))
  const before = previous && (await parseMemory({ file: memory.file, text: previous.text, facts: previous.facts }))
  const claimed = old && writtenSource(old.values)
  const isWrong = claimed !== undefined && !isSame(claimed, sourceFields(memory.source))
  if (previous && before && isSame(before, memory) && !isWrong) return previous.text
  const document: Document = old?.document && isMap(old.document.contents) ? old.document : new Document({})
  const hasDocument = old?.document !== undefined
  const fields = fieldsOf(memory)
  const oldFields = before && fieldsOf(before)
  let isChanged = false
  for (const [key, value] of Object.entries(fields)) {
    if (hasDocument && oldFields && isSame(oldFields[key], value) && !(key === "source" && isWrong)) continue
    isChanged = true
    if (value === undefined) document.delete(key)
    else document.set(key, document.createNode(value))
  }
  const isBodyChanged = before?.body !== memory.body
  const newline = old?.newline ?? "\n"
  const head = isChanged || !old ? `---\n${document.toString({ lineWidth: 0 })}---\n` : old.head
  const tail = isBodyChanged || !old ? `\n${memory.body}${memory.body === "" ? "" : "\n"}` : old.tail
  const joined = old && !hasDocument ? `${head}\n${tail.replace(/^\n+/, "")}` : head + tail
  return (old?.mark ?? "") + joined.replaceAll("\r\n", "\n").replaceAll("\n", newline)
}

const hasFrontmatter = async (text: string): Promise<boolean> =>
  readPlainFile(text) !== undefined || (await splitFile(text)).document !== undefined

interface SplitFile {
  /** The byte order mark, if there is one. */
  readonly mark: string
  readonly newline: "\n" | "\r\n"
  readonly document?: Document
  readonly values: Readonly<Record<string, unknown>>
  /** The frontmatter with its fences. `tail` is everything after it. Line ends are plain. */
  readonly head: string
  readonly tail: string
  readonly body: string
}

const FRONTMATTER = /^---[ \t]*\n(?:([\s\S]*?)\n)?---[ \t]*(?:\n|$)/

/** Splits a file with frontmatter in the form that Strata writes. Others need a parser. */
function readPlainFile(text: string): Pick<SplitFile, "values" | "body"> | undefined {
  const plain = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n")
  const match = FRONTMATTER.exec(plain)
  const values = match?.[1] === undefined ? undefined : readPlainFrontmatter(match[1])
  return values && { values, body: trimBody(plain.slice(match![0].length)) }
}

async function splitFile(text: string): Promise<SplitFile> {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : ""
  const newline = /^[^\n]*\r\n/.test(text) ? "\r\n" : "\n"
  const plain = text.slice(mark.length).replaceAll("\r\n", "\n")
  const match = FRONTMATTER.exec(plain)
  const { isMap, parseDocument } = await import("yaml")
  const document = match ? parseDocument(match[1] ?? "", { prettyErrors: false, uniqueKeys: false }) : undefined
  const isFrontmatter = document && document.errors.length === 0 && (isMap(document.contents) || !document.contents)
  if (!match || !isFrontmatter) return { mark, newline, values: {}, head: "", tail: plain, body: trimBody(plain) }
  const tail = plain.slice(match[0].length)
  return { mark, newline, document, values: valuesOf(document), head: match[0], tail, body: trimBody(tail) }
}

function valuesOf(document: Document): Readonly<Record<string, unknown>> {
  try {
    return (document.toJS({ maxAliasCount: 20 }) ?? {}) as Record<string, unknown> // aliases can multiply without limit
  } catch {
    return {}
  }
}

/** Trims a body: blank lines around it and spaces at its end are insignificant. */
const trimBody = (text: string): string => text.replace(/^(?:[ \t]*\n)+/, "").trimEnd()

function fieldsOf(memory: Memory): Readonly<Record<string, unknown>> {
  return {
    name: memory.name,
    description: memory.description,
    type: memory.type,
    created: memory.created,
    confirmed: memory.confirmed,
    source: sourceFields(memory.source),
    basis: memory.basis,
    failed: memory.failed,
    supersedes: memory.supersedes,
    "superseded-by": memory.supersededBy,
    "doubted-by": memory.doubtedBy,
  }
}

/** For users and other programs. Strata does not read these fields back. */
const sourceFields = ({ saidBy, conversation, message, outside, confirmed }: MemorySource) => ({
  "said-by": saidBy,
  ...(conversation === undefined ? {} : { conversation }),
  ...(message === undefined ? {} : { message }),
  ...(outside === undefined ? {} : { outside }),
  ...(confirmed ? { "confirmed-by": "user" } : {}),
})

const writtenSource = ({ source }: SplitFile["values"]): unknown =>
  typeof source === "string" ? { "said-by": source } : (source ?? undefined)

/** Whether the text contains a wrong claim about its source. */
export async function claimsOtherSource(text: string, source: MemorySource): Promise<boolean> {
  const claimed = writtenSource((readPlainFile(text) ?? (await splitFile(text))).values)
  return claimed !== undefined && !isSame(claimed, sourceFields(source))
}

/** The basis, reduced if it claims a statement of the user that does not exist. */
const validBasis = (written: MemoryBasis | undefined, source: MemorySource): MemoryBasis =>
  written === undefined || (written === "said" && !isUserMemory({ source })) ? defaultBasis(source) : written

export const defaultBasis = ({ saidBy }: MemorySource): MemoryBasis =>
  saidBy === "user" ? "said" : saidBy === "tool" ? "seen" : "concluded"

function oneOf<T extends string>(allowed: readonly T[], given: unknown): T | undefined {
  return allowed.find((value) => value === given)
}

function readTime(given: unknown): string | undefined {
  return typeof given === "string" && !Number.isNaN(Date.parse(given)) ? given : undefined
}

function fileList(given: unknown): readonly string[] {
  const list = Array.isArray(given) ? given : given === undefined || given === null ? [] : [given]
  return list.filter((item) => typeof item === "string" && item.trim() !== "").map((item: string) => item.trim())
}

function oneLine(given: unknown): string {
  return typeof given === "string" || typeof given === "number" ? String(given).replace(/\s+/g, " ").trim() : ""
}

function firstHeading(body: string): string | undefined {
  const heading = /^#{1,6}[ \t]+(.+?)[ \t#]*$/m.exec(body)?.[1]
  return heading && cut(oneLine(heading), MAX_NAME_CHARACTERS)
}

function firstSentence(body: string): string {
  const line = body.split("\n").find((text) => text.trim() !== "" && !text.startsWith("#"))
  return cut(oneLine(line?.replace(/^[\s>*+-]+/, "") ?? ""), MAX_NAME_CHARACTERS)
}

/** At most this many characters, without splitting a surrogate pair. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  const characters = [...text]
  return characters.length <= max
    ? text
    : `${characters
        .slice(0, max - 1)
        .join("")
        .trimEnd()}…`
}

/** The text of a file after an edit of its memory. */
export async function editMemoryText(file: MemoryFileText, edit: (memory: Memory) => Memory): Promise<string> {
  return renderMemory(edit(await parseMemory(file)), file)
}

/** A memory with its secrets masked. */
export function maskMemory(memory: Memory): Memory {
  const [name, description, body] = [memory.name, memory.description, memory.body].map(maskSecrets)
  return { ...memory, name: name!, description: description!, body: body! }
}

/** A complete file with its secrets masked and its frontmatter still valid. `kinds`: one for each secret. */
export async function maskFile(
  file: MemoryFileText,
): Promise<{ readonly text: string; readonly kinds: readonly string[] }> {
  const kinds = findSecrets(file.text).map(({ kind }) => kind)
  if (kinds.length === 0) return { text: file.text, kinds }
  const masked = maskSecrets(file.text)
  if ((await hasFrontmatter(masked)) || !(await hasFrontmatter(file.text))) return { text: masked, kinds }
  // masking broke the YAML: render the known fields again. Unknown ones may contain the secret
  return { text: await renderMemory(maskMemory(await parseMemory(file))), kinds }
}
