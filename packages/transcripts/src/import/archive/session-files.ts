/**
 * Lists the files of a session and reads its title and directory. Claude Code stores sub-agents and large results in a folder with the
 * session's name; older versions store sub-agents next to the transcript. Links are not followed.
 */
import type { Dirent } from "node:fs"
import { lstat, open, readdir } from "node:fs/promises"
import { basename, dirname, join, relative, sep } from "node:path"
import { readPlainStart } from "@strata/core/base"
import { isMachineText } from "@strata/core/messages"
import { asObject, getList, getObject, getString, isTrue, type JsonObject, jsonLines } from "../json-access.ts"
import type { SourceFile } from "./packed-file.ts"

const MAX_DEPTH = 6
const MAX_FILES = 20_000
const HEAD_BYTES = 128 * 1024
const TAIL_BYTES = 64 * 1024
const AGENT_HEAD_BYTES = 16 * 1024
const MAX_TITLE = 120 // characters
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export interface FoundFile extends SourceFile {
  readonly size: number
  readonly modifiedMs: number
}

/** Lists the transcript first; empty if it does not exist. */
export async function listSessionFiles(program: string, path: string): Promise<readonly FoundFile[]> {
  const folder = dirname(path)
  const session = basename(path, ".jsonl")
  const id = UUID.test(session) ? session : undefined
  const isClaude = program === "claude-code"
  const companions = isClaude
    ? [...(await filesBelow(join(folder, session))), ...(await agentsNextTo(folder, session))]
    : []
  const found: FoundFile[] = []
  for (const file of [path, ...companions.slice(0, MAX_FILES)]) {
    const facts = await lstat(file).catch(() => undefined)
    if (!facts?.isFile()) {
      if (file === path) return []
      continue
    }
    const name = relative(folder, file).split(sep).join("/")
    const isLines = isClaude && id !== undefined && file.endsWith(".jsonl")
    found.push({ path: file, name, size: facts.size, modifiedMs: facts.mtimeMs, ...(isLines ? { id } : {}) })
  }
  return found
}

async function filesBelow(folder: string, depth = MAX_DEPTH): Promise<readonly string[]> {
  const found: string[] = []
  for (const entry of await entriesIn(folder)) {
    const path = join(folder, entry.name)
    if (entry.isFile()) found.push(path)
    else if (entry.isDirectory() && depth > 1) found.push(...(await filesBelow(path, depth - 1)))
  }
  return found
}

/** Sub-agents whose first line names the session. */
async function agentsNextTo(folder: string, session: string): Promise<readonly string[]> {
  const names = (await entriesIn(folder)).filter((entry) => entry.isFile() && /^agent-.*\.jsonl$/.test(entry.name))
  const found: string[] = []
  for (const { name } of names) {
    const path = join(folder, name)
    const start = await readPlainStart(path, AGENT_HEAD_BYTES).catch(() => undefined)
    if (start?.bytes.includes(`"sessionId":"${session}"`)) found.push(path)
  }
  return found
}

async function entriesIn(folder: string): Promise<readonly Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

export interface SessionHeader {
  readonly project?: string
  readonly title?: string
}

/** Reads the working directory of a session and its title, else the first line of the first message. */
export async function readSessionHeader(path: string): Promise<SessionHeader> {
  const head = await readLines(path, { from: 0, bytes: HEAD_BYTES })
  const size = (await lstat(path).catch(() => undefined))?.size ?? 0
  const tail =
    size > HEAD_BYTES ? await readLines(path, { from: Math.max(0, size - TAIL_BYTES), bytes: TAIL_BYTES }) : []
  const project = firstOf(head, directoryIn)
  const title = firstOf([...head, ...tail].toReversed(), titleIn) ?? firstOf(head, firstLineIn)
  return { ...(project === undefined ? {} : { project }), ...(title === undefined ? {} : { title: truncate(title) }) }
}

function firstOf<T>(lines: readonly JsonObject[], read: (line: JsonObject) => T | undefined): T | undefined {
  for (const line of lines) {
    const found = read(line)
    if (found !== undefined) return found
  }
  return undefined
}

const directoryIn = (line: JsonObject): string | undefined =>
  getString(line, "cwd") ??
  getString(getObject(line, "payload"), "cwd") ??
  getString(getObject(getObject(line, "data"), "context"), "cwd")

const titleIn = (line: JsonObject): string | undefined =>
  getString(line, "customTitle") ??
  getString(line, "aiTitle") ??
  (line.type === "session_info" ? getString(line, "name") : undefined)

function firstLineIn(line: JsonObject): string | undefined {
  const message = getObject(line, "message")
  const payload = getObject(line, "payload")
  const data = getObject(line, "data")
  const text =
    getString(message, "role") === "user" && !isTrue(line, "isMeta")
      ? textIn(message?.content)
      : getString(payload, "type") === "user_message"
        ? getString(payload, "message")
        : getString(line, "type") === "user.message"
          ? getString(data, "content")
          : undefined
  return text === undefined || text.trim() === "" || isMachineText(text) ? undefined : text.trim().split("\n")[0]
}

function textIn(content: unknown): string | undefined {
  if (typeof content === "string") return content
  const texts = getList({ content }, "content").map((block) => getString(asObject(block), "text"))
  return texts.find((text) => text !== undefined && !isMachineText(text))
}

const truncate = (title: string): string => [...title].slice(0, MAX_TITLE).join("")

/** The complete lines in a part of a file. */
async function readLines(
  path: string,
  { from, bytes }: { readonly from: number; readonly bytes: number },
): Promise<readonly JsonObject[]> {
  const file = await open(path, "r").catch(() => undefined)
  if (!file) return []
  try {
    const part = Buffer.alloc(bytes)
    const { bytesRead } = await file.read(part, 0, bytes, from)
    return [...jsonLines(part.toString("utf8", 0, bytesRead))].flatMap(({ object }) => (object ? [object] : []))
  } finally {
    await file.close()
  }
}
