/**
 * The record of a session of Claude Code, kept between calls in Strata's directory. A compaction then reads only the end of the transcript,
 * from the last answer that is recorded: the client waits seconds for it, and the machine may be busy. Without a kept record, or with one
 * that does not fit the transcript any more, everything is recorded again.
 */
import { hash, randomUUID } from "node:crypto"
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type CarryMessage, type CompactionCarryover, carryAhead, type PlainMessage } from "@strata/core"
import { isBoundary, type Message } from "@strata/core/messages"
import { importTranscript, jsonLines, mainPath, textAt } from "@strata/transcripts/import"
import type { Environment } from "./clients.ts"
import { programVersion } from "./plugin-directory.ts"
import { pluginsDirectory } from "./plugins-directory.ts"
import { isSummary, isTalk, MAX_TRANSCRIPT_BYTES } from "./transcripts.ts"

const FOLDER = "sessions"
const UNUSED_DAYS = 14 // then the kept record of a session is removed
const DAY_MS = 86_400_000

/** A line of the transcript that is recorded. */
interface RecordedLine {
  readonly uuid: string
  /** A hash of what was said. */
  readonly content?: string
  /** The line that it repeats, because a compaction kept that one. */
  readonly of?: string
  readonly isMeta?: true
  readonly isSummary?: true
}

interface KeptRecord {
  /** Of the program. The record of another version is computed again. */
  readonly version: string
  /** The first line of the last recorded answer, and the byte at which it begins: the conversation goes on after it. */
  readonly answer: { readonly uuid: string; readonly at: number }
  readonly lines: readonly RecordedLine[]
  readonly state: CompactionCarryover
}

interface SessionPlace {
  readonly session: string
  readonly transcript: string
  readonly env: Environment
}

/** A session with all of its lines recorded. */
export interface RecordedSession {
  /** The lines that were read: all of them, or those that are new. */
  readonly lines: readonly Message[]
  readonly recorded: readonly RecordedLine[]
  readonly state: CompactionCarryover | undefined
}

interface ReadLines {
  readonly lines: readonly Message[]
  readonly bytes: Buffer
  /** What was recorded before them. */
  readonly kept: KeptRecord | undefined
}

/** Records what is new, and keeps the record for the next call. `isWhole`: all lines are wanted, not only those that are new. */
export async function recordedSession(place: SessionPlace, { isWhole = false } = {}): Promise<RecordedSession> {
  const { lines, bytes, kept } = await readLines(place, isWhole)
  // input that waits in the client's queue is at the end, and gets its place with the next answer
  const settled = lines.slice(0, lines.findLastIndex(isAnswer) + 1)
  const recorded = await withLines(kept, settled)
  const answer = placeOf(settled[settled.findLastIndex((line) => !isAnswer(line)) + 1], bytes)
  if (recorded.state && answer && recorded.lines.length > (kept?.lines.length ?? 0))
    await keep(place, { version: programVersion(), answer, lines: recorded.lines, state: recorded.state })
  const all = await withLines(recorded, lines)
  return { lines, recorded: all.lines, state: all.state }
}

const isAnswer = ({ type }: Message): boolean => type === "assistant"

type Recorded = Pick<RecordedSession, "state"> & Pick<KeptRecord, "lines">

async function withLines(before: Recorded | undefined, lines: readonly Message[]): Promise<Recorded> {
  const known = new Map(before?.lines.map((line) => [line.uuid, line]))
  const originals = Map.groupBy(before?.lines ?? [], ({ content }) => content)
  const added: RecordedLine[] = []
  const fresh: Message[] = []
  const repeated = new Set<string>()
  let repeats = false // right after a boundary are the messages that it kept, written again
  for (const line of lines) {
    if (isBoundary(line)) repeats = true
    const old = known.get(line.uuid)
    const isSaid = isTalk(line) && !isSummary(line)
    const content = !old && isSaid ? contentHash(line) : undefined
    const original: RecordedLine | undefined =
      content && repeats ? originals.get(content)?.findLast(({ uuid }) => !repeated.has(uuid)) : undefined
    if (isSaid) repeats &&= (original ?? old?.of) !== undefined
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
  return { lines: [...(before?.lines ?? []), ...added], state: await carryAhead(fresh, options) }
}

/** For `compactMessages`: the messages in view as their lines or under the names that are recorded, and the state in which all are recorded. */
export async function recordedView(
  { lines, recorded, state }: RecordedSession,
  inView: readonly CarryMessage[],
): Promise<{ readonly messages: readonly CarryMessage[]; readonly before: CompactionCarryover }> {
  const read = new Map(lines.map((line) => [line.uuid, line]))
  const known = new Map(recorded.map((line) => [line.uuid, line]))
  const messages = inView.map((message): CarryMessage => {
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
      : await carryAhead(unrecorded, { ...(state ? { before: state } : {}), recorded: messages })
  return { messages, before }
}

const idOf = (message: CarryMessage): string | undefined => ("uuid" in message ? message.uuid : message.id)

/** What follows the last answer that is recorded, if it does follow it. Else all lines, with the record if all of it is among them. */
async function readLines(place: SessionPlace, isWhole: boolean): Promise<ReadLines> {
  const { transcript } = place
  const bytes = await readFile(transcript)
  if (bytes.length > MAX_TRANSCRIPT_BYTES) return { lines: [], bytes: Buffer.alloc(0), kept: undefined }
  const kept = await keptRecord(place)
  const end = kept && !isWhole ? bytes.subarray(kept.answer.at).toString("utf8") : ""
  if (kept && goesOn(end, kept.answer.uuid)) return { lines: pathIn(transcript, end), bytes, kept }
  const lines = pathIn(transcript, bytes.toString("utf8"))
  const there = new Set(lines.map(({ uuid }) => uuid))
  return { lines, bytes, kept: kept?.lines.every(({ uuid }) => there.has(uuid)) ? kept : undefined }
}

/** Otherwise the person went back in the conversation, and the record has what is no longer part of it. */
function goesOn(text: string, first: string): boolean {
  const there = new Set<string>()
  for (const { fields } of jsonLines(text)) {
    const uuid = textAt(fields, "uuid")
    if (uuid === undefined || fields?.isSidechain === true) continue
    const parent = textAt(fields, "parentUuid") ?? textAt(fields, "logicalParentUuid") ?? ""
    if (there.size === 0 ? uuid !== first : !there.has(parent)) return false
    there.add(uuid)
  }
  return there.size > 0
}

function pathIn(name: string, text: string): readonly Message[] {
  const [imported] = importTranscript({ name, text })
  return imported ? mainPath(imported.messages) : []
}

/** Where a line of the transcript begins. */
function placeOf(line: Message | undefined, bytes: Buffer): KeptRecord["answer"] | undefined {
  const named = line === undefined ? -1 : bytes.lastIndexOf(`"uuid":"${line.uuid}"`)
  return line === undefined || named < 0 ? undefined : { uuid: line.uuid, at: bytes.lastIndexOf("\n", named) + 1 }
}

const contentHash = (line: Message): string =>
  hash("sha256", JSON.stringify((line as { message?: { content?: unknown } }).message?.content ?? "")).slice(0, 16)

const folderOf = (env: Environment): string => join(pluginsDirectory(env), FOLDER)
const fileOf = ({ env, session }: SessionPlace): string => join(folderOf(env), `${session}.json`)

async function keptRecord(place: SessionPlace): Promise<KeptRecord | undefined> {
  try {
    const kept = JSON.parse(await readFile(fileOf(place), "utf8")) as KeptRecord
    return kept.version === programVersion() ? kept : undefined
  } catch {
    return undefined // missing or unreadable: it is made again
  }
}

/** A record that cannot be kept costs time at the next call, and nothing else. */
async function keep(place: SessionPlace, kept: KeptRecord): Promise<void> {
  const path = fileOf(place)
  const draft = `${path}.${randomUUID()}`
  try {
    await mkdir(folderOf(place.env), { recursive: true, mode: 0o700 })
    await writeFile(draft, JSON.stringify(kept), { mode: 0o600, flag: "wx" })
    await rename(draft, path)
    await removeUnused(folderOf(place.env))
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
