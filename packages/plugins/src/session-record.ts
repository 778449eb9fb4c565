/**
 * The record of a session of Claude Code, kept between calls in Strata's directory. A compaction then reads the transcript from its newest
 * boundary on and records only the lines since the call before: a client waits seconds for it, not minutes, and the machine may be busy.
 * Without a kept record, or with one that does not fit the transcript any more, everything is recorded again.
 */
import { hash, randomUUID } from "node:crypto"
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type CarriedState, type CarryMessage, carryAhead } from "@strata/core"
import { isBoundary, type Message } from "@strata/core/messages"
import { importTranscript, mainPath } from "@strata/core/transcripts"
import type { Environment } from "./clients.ts"
import { programVersion } from "./plugin-directory.ts"
import { pluginsDirectory } from "./plugins-directory.ts"
import { isSummary, isTalk, MAX_TRANSCRIPT_BYTES } from "./transcripts.ts"

const FOLDER = "sessions"
const UNUSED_DAYS = 14 // then the kept record of a session is removed
const DAY_MS = 86_400_000

/** A line of the transcript that is recorded. `of`: the line that it repeats, because a compaction kept that one. */
type RecordedLine = readonly [uuid: string, content: string, of?: string]

interface KeptRecord {
  /** Of the program. The record of another version is computed again. */
  readonly version: string
  /** The newest boundary of the transcript, and the byte at which its line begins. */
  readonly boundary?: { readonly uuid: string; readonly at: number }
  readonly lines: readonly RecordedLine[]
  readonly state: CarriedState
}

interface SessionPlace {
  readonly session: string
  readonly transcript: string
  readonly env: Environment
}

/** A session's lines since the newest boundary that was known, and the record of all lines. */
export interface RecordedSession {
  readonly lines: readonly Message[]
  readonly recorded: readonly RecordedLine[]
  readonly state: CarriedState | undefined
}

interface ReadLines {
  readonly lines: readonly Message[]
  readonly bytes: Buffer
  readonly kept: KeptRecord | undefined
}

/** Records what is new, and keeps the record for the next call. `isWhole`: all lines are wanted, not only those of the newest range. */
export async function recordedSession(place: SessionPlace, { isWhole = false } = {}): Promise<RecordedSession> {
  const { lines, bytes, kept } = await readLines(place, isWhole)
  // input that waits in the client's queue is at the end, and gets its place with the next answer
  const settled = lines.slice(0, lines.findLastIndex(({ type }) => type === "assistant") + 1)
  const recorded = await withLines(kept, settled)
  const newest = boundaryIn(settled, bytes) ?? kept?.boundary
  if (recorded.state && recorded.lines.length > (kept?.lines.length ?? 0))
    await keep(place, {
      ...{ version: programVersion(), lines: recorded.lines, state: recorded.state },
      ...(newest ? { boundary: newest } : {}),
    })
  const all = await withLines(recorded, lines)
  return { lines, recorded: all.lines, state: all.state }
}

type Recorded = Pick<RecordedSession, "state"> & Pick<KeptRecord, "lines">

async function withLines(before: Partial<Recorded> | undefined, lines: readonly Message[]): Promise<Recorded> {
  const known = new Map(before?.lines?.map((line) => [line[0], line]))
  const originals = Map.groupBy(before?.lines ?? [], ([, content]) => content)
  const added: RecordedLine[] = []
  const fresh: Message[] = []
  const repeated = new Set<string>()
  let repeats = false // right after a boundary are the messages that it kept, written again
  for (const line of lines) {
    if (isBoundary(line)) repeats = true
    const old = known.get(line.uuid)
    const isSaid = isTalk(line) && !isSummary(line)
    const content = !old && isSaid ? contentHash(line) : ""
    const original: RecordedLine | undefined =
      !old && isSaid && repeats ? originals.get(content)?.findLast(([uuid]) => !repeated.has(uuid)) : undefined
    if (isSaid) repeats &&= (original ?? old?.[2]) !== undefined
    if (old) continue
    if (original) repeated.add(original[0])
    else if (!isBoundary(line)) fresh.push(line)
    const entry: RecordedLine = original ? [line.uuid, content, original[2] ?? original[0]] : [line.uuid, content]
    if (isSaid) originals.set(content, [...(originals.get(content) ?? []), entry])
    added.push(entry)
  }
  const state = before?.state
  if (added.length === 0) return { lines: before?.lines ?? [], state }
  const options = { ...(state ? { before: state } : {}), recorded: [] }
  return { lines: [...(before?.lines ?? []), ...added], state: await carryAhead(fresh, options) }
}

/** For `carry`: the messages in view under the names that are recorded, and the state in which all of them are recorded. */
export async function recordedView(
  { recorded, state }: RecordedSession,
  inView: readonly CarryMessage[],
): Promise<{ readonly messages: readonly CarryMessage[]; readonly before: CarriedState }> {
  const originals = new Map(recorded.map(([uuid, , of = uuid]) => [uuid, of]))
  const messages = inView.map((message): CarryMessage => {
    const original = originals.get(idOf(message) ?? "")
    if (original === undefined) return message
    return "uuid" in message ? { ...message, uuid: original } : { ...message, id: original }
  })
  const unrecorded = inView.filter((message) => !originals.has(idOf(message) ?? ""))
  const before = await carryAhead(unrecorded, { ...(state ? { before: state } : {}), recorded: messages })
  return { messages, before }
}

const idOf = (message: CarryMessage): string | undefined => ("uuid" in message ? message.uuid : message.id)

/** From the newest boundary that is known, where the path since then leads to it and has all that is recorded since. Else all lines. */
async function readLines(place: SessionPlace, isWhole: boolean): Promise<ReadLines> {
  const { transcript } = place
  const kept = await keptRecord(place)
  const boundary = isWhole ? undefined : kept?.boundary
  const bytes = await readFile(transcript)
  if (bytes.length > MAX_TRANSCRIPT_BYTES) return { lines: [], bytes: Buffer.alloc(0), kept: undefined }
  if (kept && boundary) {
    const lines = pathIn(transcript, bytes.subarray(boundary.at))
    const since = kept.lines.slice(kept.lines.findLastIndex(([uuid]) => uuid === boundary.uuid) + 1)
    if (lines[0]?.uuid === boundary.uuid && areAmong(since, lines)) return { lines, bytes, kept }
  }
  const lines = pathIn(transcript, bytes)
  return { lines, bytes, kept: kept && areAmong(kept.lines, lines) ? kept : undefined }
}

/** Otherwise the person went back in the conversation, and the record has what is no longer part of it. */
function areAmong(recorded: readonly RecordedLine[], lines: readonly Message[]): boolean {
  const there = new Set(lines.map(({ uuid }) => uuid))
  return recorded.every(([uuid]) => there.has(uuid))
}

function pathIn(name: string, bytes: Buffer): readonly Message[] {
  const [imported] = importTranscript({ name, text: bytes.toString("utf8") })
  return imported ? mainPath(imported.messages) : []
}

function boundaryIn(lines: readonly Message[], bytes: Buffer): KeptRecord["boundary"] {
  const uuid = lines.findLast(isBoundary)?.uuid
  const named = uuid === undefined ? -1 : bytes.lastIndexOf(`"uuid":"${uuid}"`)
  return uuid === undefined || named < 0 ? undefined : { uuid, at: bytes.lastIndexOf("\n", named) + 1 }
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
    return undefined // there is none, or it cannot be read: it is made again
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
