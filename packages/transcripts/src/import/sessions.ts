/**
 * Lists sessions of other programs that the user may want to continue: those of this directory first, then the newest of all. Only the
 * beginning and end of listed files are read, so thousands of files cost no more than their names.
 */
import { hash } from "node:crypto"
import { basename, dirname } from "node:path"
import { readPlainEnd, readPlainStart } from "@strata/core/base"
import { firstUserLine } from "@strata/core/messages"
import {
  externalTranscripts,
  type FindTranscripts,
  type FoundTranscript,
  type TranscriptProgram,
} from "./find-transcripts.ts"
import { importTranscript } from "./import-file.ts"
import type { ImportedConversation } from "./importer.ts"
import { openCodeExport } from "./opencode-sessions.ts"

const MAX_LISTED = 50
const MAX_ELSEWHERE = 20 // sessions of other directories
const MAX_LOOKED_AT = 300 // files whose first bytes are searched for the directory
const FIRST_BYTES = 8 * 1024
const HEAD_BYTES = 128 * 1024 // enough for a title or a first message
const END_BYTES = [32 * 1024, 1024 * 1024] // the last line may be long
const TITLE_CHARACTERS = 120

/** A session of another program. */
export interface ExternalSession {
  readonly program: TranscriptProgram
  /** Path for `importOrUpdateConversations`. */
  readonly path: string
  /** The program's session id, if the beginning of the file contains it. */
  readonly id?: string
  /** Title of the session, else the first line of its first message. */
  readonly title?: string
  /** Time of the last message in milliseconds since 1970, or of the last write if the file has no times. */
  readonly lastMessageMs: number
  /** Whether the session belongs to the directory `cwd`. */
  readonly isHere: boolean
}

export interface ListSessionsOptions extends Pick<FindTranscripts, "home" | "env"> {
  /** The project's directory. */
  readonly cwd: string
}

/** Lists sessions of this directory first; each part newest first. */
export async function listExternalSessions({
  cwd,
  ...where
}: ListSessionsOptions): Promise<readonly ExternalSession[]> {
  const all = (await externalTranscripts(where)).filter(isExternal)
  const inspected = all.filter(({ program }) => program !== "claude-code").slice(0, MAX_LOOKED_AT)
  const inDirectory = await Promise.all(
    inspected.map(async (file) => ((await namesDirectory(file, cwd)) ? [file.path] : [])),
  )
  const here = new Set([...inDirectory.flat(), ...all.filter((file) => isFolderOf(file, cwd)).map(({ path }) => path)])
  const near = all.filter(({ path }) => here.has(path)).slice(0, MAX_LISTED)
  const far = all.filter(({ path }) => !here.has(path)).slice(0, Math.min(MAX_ELSEWHERE, MAX_LISTED - near.length))
  const sessions = await Promise.all(
    [...near, ...far].map(async ({ program, path, modifiedMs }) => {
      const { id, title } = await headOf(path)
      const isHere = here.has(path)
      const lastMessageMs = (await lastTimeIn(path)) ?? modifiedMs
      return {
        ...{ program, path, lastMessageMs, isHere },
        ...(id === undefined ? {} : { id }),
        ...(title === undefined ? {} : { title }),
      }
    }),
  )
  return sessions.sort((a, b) => Number(b.isHere) - Number(a.isHere) || b.lastMessageMs - a.lastMessageMs)
}

const TIME = /"timestamp"\s*:\s*"(\d{4}-\d{2}-\d{2}T[^"\\]{5,30})"/g

/** Reads the time of the last message. A copy or a tool may touch a file much later. */
async function lastTimeIn(path: string): Promise<number | undefined> {
  for (const max of END_BYTES) {
    const end = await readPlainEnd(path, max).catch(() => undefined)
    const time = Date.parse([...(end?.toString("utf8") ?? "").matchAll(TIME)].at(-1)?.[1] ?? "")
    if (!Number.isNaN(time)) return time
  }
  return undefined
}

type ExternalTranscript = FoundTranscript & { readonly program: TranscriptProgram }

const isExternal = (file: FoundTranscript): file is ExternalTranscript =>
  file.program !== "strata" && file.program !== "other" && file.parent === undefined

/** Claude Code names its folders after the directory, Gemini after the directory's hash. */
function isFolderOf({ program, path }: ExternalTranscript, cwd: string): boolean {
  if (program === "claude-code") return basename(dirname(path)) === cwd.replace(/[^A-Za-z0-9]/g, "-")
  return program === "gemini" && basename(dirname(dirname(path))) === hash("sha256", cwd, "hex")
}

/** Whether the beginning of the file names the directory, as other programs record it. */
async function namesDirectory({ path }: ExternalTranscript, cwd: string): Promise<boolean> {
  const start = await readPlainStart(path, FIRST_BYTES).catch(() => undefined)
  return start?.bytes.includes(JSON.stringify(cwd)) ?? false
}

/** Reads the id and title from the beginning of a file. A title later in the file is not found. */
async function headOf(path: string): Promise<{ readonly id?: string; readonly title?: string }> {
  try {
    const text = openCodeExport(path) ?? (await headText(path))
    const [conversation] = importTranscript({ name: basename(path), text })
    if (!conversation) return {}
    const title = titleOf(conversation)
    return { id: conversation.id, ...(title === undefined ? {} : { title }) }
  } catch {
    return {} // the list shows the file name; importing it reports the error
  }
}

async function headText(path: string): Promise<string> {
  const { bytes, isCut } = await readPlainStart(path, HEAD_BYTES)
  const text = bytes.toString("utf8")
  return isCut ? text.slice(0, text.lastIndexOf("\n") + 1) : text
}

function titleOf({ title, messages }: ImportedConversation): string | undefined {
  const [line = ""] = (title ?? "").trim().split("\n", 1)
  return line === "" ? firstUserLine(messages) : line.trimEnd().slice(0, TITLE_CHARACTERS)
}
