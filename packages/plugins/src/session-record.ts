/**
 * The record of a Claude Code session, stored between calls in Strata's directory. A compaction then reads only the end of the transcript,
 * from the last recorded answer on: the client waits seconds for it, and the machine may be busy. If the stored record is missing or does
 * not match the transcript, everything is recorded again.
 */
import { hash, randomUUID } from "node:crypto"
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type CompactableMessage, type CompactionCarryover, type PlainMessage, recordMessages } from "@strata/core"
import { isBoundary, type Message } from "@strata/core/messages"
import { getString, importTranscript, jsonLines, listActiveBranch } from "@strata/transcripts/import"
import type { Environment } from "./clients.ts"
import { programVersion } from "./plugin-directory.ts"
import { pluginsDirectory } from "./plugins-directory.ts"
import { isSummary, isTalk, MAX_TRANSCRIPT_BYTES } from "./transcripts.ts"

const FOLDER = "sessions"
const UNUSED_DAYS = 14 // after which the stored record of a session is removed
const DAY_MS = 86_400_000

/** A recorded line of the transcript. */
interface RecordedLine {
  readonly uuid: string
  /** A hash of the content. */
  readonly content?: string
  /** The uuid of the original line, if a compaction copied it. */
  readonly of?: string
  readonly isMeta?: true
  readonly isSummary?: true
}

interface StoredRecord {
  /** Version of the program. A record of another version is recomputed. */
  readonly version: string
  /** The first line of the last recorded answer, and its byte offset, at which reading continues. */
  readonly answer: { readonly uuid: string; readonly at: number }
  readonly lines: readonly RecordedLine[]
  readonly state: CompactionCarryover
}

interface SessionFiles {
  readonly session: string
  readonly transcript: string
  readonly env: Environment
}

/** A session with all of its lines recorded. */
export interface RecordedSession {
  /** The lines that were read: all of them, or only new ones. */
  readonly lines: readonly Message[]
  readonly recorded: readonly RecordedLine[]
  readonly state: CompactionCarryover | undefined
}

interface TranscriptLines {
  readonly lines: readonly Message[]
  readonly bytes: Buffer
  /** The record of the lines before these. */
  readonly stored: StoredRecord | undefined
}

/** Records new lines, and stores the record for the next call. `allLines`: returns all lines instead of only new ones. */
export async function recordSessionLines(files: SessionFiles, { allLines = false } = {}): Promise<RecordedSession> {
  const { lines, bytes, stored } = await readLines(files, allLines)
  // input that waits in the client's queue is at the end, and gets its final position with the next answer
  const settled = lines.slice(0, lines.findLastIndex(isAnswer) + 1)
  const recorded = await recordLines(stored, settled)
  const answer = locateLine(settled[settled.findLastIndex((line) => !isAnswer(line)) + 1], bytes)
  if (recorded.state && answer && recorded.lines.length > (stored?.lines.length ?? 0))
    await saveRecord(files, { version: programVersion(), answer, lines: recorded.lines, state: recorded.state })
  const all = await recordLines(recorded, lines)
  return { lines, recorded: all.lines, state: all.state }
}

const isAnswer = ({ type }: Message): boolean => type === "assistant"

type RecordedLines = Pick<RecordedSession, "state"> & Pick<StoredRecord, "lines">

async function recordLines(before: RecordedLines | undefined, lines: readonly Message[]): Promise<RecordedLines> {
  const known = new Map(before?.lines.map((line) => [line.uuid, line]))
  const originals = Map.groupBy(before?.lines ?? [], ({ content }) => content)
  const added: RecordedLine[] = []
  const fresh: Message[] = []
  const repeated = new Set<string>()
  let repeats = false // after a boundary, copies of the tail follow
  for (const line of lines) {
    if (isBoundary(line)) repeats = true
    const old = known.get(line.uuid)
    const isMessage = isTalk(line) && !isSummary(line)
    const content = !old && isMessage ? contentHash(line) : undefined
    const original: RecordedLine | undefined =
      content && repeats ? originals.get(content)?.findLast(({ uuid }) => !repeated.has(uuid)) : undefined
    if (isMessage) repeats &&= (original ?? old?.of) !== undefined
    if (old) continue
    if (original) repeated.add(original.uuid)
    else if (!isBoundary(line)) fresh.push(line)
    const entry: RecordedLine = {
      uuid: line.uuid,
      ...(content ? { content } : {}),
      ...(original ? { of: original.of ?? original.uuid } : {}),
      ...("isMeta" in line && line.isMeta ? { isMeta: true } : {}),
      ...(isSummary(line) ? { isSummary: true } : {}),
    }
    if (content) originals.set(content, [...(originals.get(content) ?? []), entry])
    added.push(entry)
  }
  if (before && added.length === 0) return before
  const options = { ...(before?.state ? { before: before.state } : {}), recorded: [] }
  return { lines: [...(before?.lines ?? []), ...added], state: await recordMessages(fresh, options) }
}

/**
 * Prepares `compactMessages`: the messages in context, as full lines or under their recorded names, and the state that covers all of them.
 */
export async function recordedView(
  { lines, recorded, state }: RecordedSession,
  inView: readonly CompactableMessage[],
): Promise<{ readonly messages: readonly CompactableMessage[]; readonly before: CompactionCarryover }> {
  const read = new Map(lines.map((line) => [line.uuid, line]))
  const known = new Map(recorded.map((line) => [line.uuid, line]))
  const messages = inView.map((message): CompactableMessage => {
    const { of: original, isMeta, isSummary: isSummarised } = known.get(idOf(message) ?? "") ?? {}
    const line = read.get(idOf(message) ?? "")
    if (line) return original === undefined ? line : { ...line, uuid: original }
    return {
      ...(message as PlainMessage),
      ...(original === undefined ? {} : { id: original }),
      ...(isMeta ? { isMeta } : {}),
      ...(isSummarised ? { isSummary: true } : {}),
    }
  })
  const unrecorded = inView.filter((message) => !known.has(idOf(message) ?? ""))
  const before =
    state && unrecorded.length === 0
      ? { ...state, kept: messages.flatMap((message) => idOf(message) ?? []) }
      : await recordMessages(unrecorded, { ...(state ? { before: state } : {}), recorded: messages })
  return { messages, before }
}

const idOf = (message: CompactableMessage): string | undefined => ("uuid" in message ? message.uuid : message.id)

/**
 * Reads the lines after the last recorded answer, if they continue it. Otherwise reads all lines, and returns the record only if its lines
 * are among them.
 */
async function readLines(files: SessionFiles, allLines: boolean): Promise<TranscriptLines> {
  const { transcript } = files
  const bytes = await readFile(transcript)
  if (bytes.length > MAX_TRANSCRIPT_BYTES) return { lines: [], bytes: Buffer.alloc(0), stored: undefined }
  const stored = await loadRecord(files)
  const end = stored && !allLines ? bytes.subarray(stored.answer.at).toString("utf8") : ""
  if (stored && continues(end, stored.answer.uuid)) return { lines: activeBranch(transcript, end), bytes, stored }
  const lines = activeBranch(transcript, bytes.toString("utf8"))
  const there = new Set(lines.map(({ uuid }) => uuid))
  return { lines, bytes, stored: stored?.lines.every(({ uuid }) => there.has(uuid)) ? stored : undefined }
}

/** Otherwise the user went back in the conversation, and the record contains abandoned lines. */
function continues(text: string, first: string): boolean {
  const there = new Set<string>()
  for (const { object } of jsonLines(text)) {
    const uuid = getString(object, "uuid")
    if (uuid === undefined || object?.isSidechain === true) continue
    const parent = getString(object, "parentUuid") ?? getString(object, "logicalParentUuid") ?? ""
    if (there.size === 0 ? uuid !== first : !there.has(parent)) return false
    there.add(uuid)
  }
  return there.size > 0
}

function activeBranch(name: string, text: string): readonly Message[] {
  const [imported] = importTranscript({ name, text })
  return imported ? listActiveBranch(imported.messages) : []
}

/** The byte offset at which a line of the transcript begins. */
function locateLine(line: Message | undefined, bytes: Buffer): StoredRecord["answer"] | undefined {
  const named = line === undefined ? -1 : bytes.lastIndexOf(`"uuid":"${line.uuid}"`)
  return line === undefined || named < 0 ? undefined : { uuid: line.uuid, at: bytes.lastIndexOf("\n", named) + 1 }
}

const contentHash = (line: Message): string =>
  hash("sha256", JSON.stringify((line as { message?: { content?: unknown } }).message?.content ?? "")).slice(0, 16)

const folderOf = (env: Environment): string => join(pluginsDirectory(env), FOLDER)
const fileOf = ({ env, session }: SessionFiles): string => join(folderOf(env), `${session}.json`)

async function loadRecord(files: SessionFiles): Promise<StoredRecord | undefined> {
  try {
    const record = JSON.parse(await readFile(fileOf(files), "utf8")) as StoredRecord
    return record.version === programVersion() ? record : undefined
  } catch {
    return undefined // missing or unreadable: it is rebuilt
  }
}

/** A failure to store the record only makes the next call slower. */
async function saveRecord(files: SessionFiles, record: StoredRecord): Promise<void> {
  const path = fileOf(files)
  const draft = `${path}.${randomUUID()}`
  try {
    await mkdir(folderOf(files.env), { recursive: true, mode: 0o700 })
    await writeFile(draft, JSON.stringify(record), { mode: 0o600, flag: "wx" })
    await rename(draft, path)
    await removeUnused(folderOf(files.env))
  } catch {
    await rm(draft, { force: true }).catch(() => {})
  }
}

async function removeUnused(folder: string): Promise<void> {
  const oldest = Date.now() - UNUSED_DAYS * DAY_MS
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    if ((await stat(path)).mtimeMs < oldest) await rm(path, { force: true })
  }
}
