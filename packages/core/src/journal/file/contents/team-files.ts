/**
 * Exports and imports a team's log and members. A message that was sent in another store keeps its position number in its line unless it
 * gets the same position here, because journals refer to positions.
 */
import { randomUUID } from "node:crypto"
import { readdirSync } from "node:fs"
import { readdir, rename, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { isSafeId } from "../../../base/clock.ts"
import { ContentDiffersError, MESSAGES, type PruneCriteria } from "../../contents.ts"
import { withSum } from "../../line.ts"
import type { MailboxCursor, TeamAddress } from "../../mailbox.ts"
import { encodeHeader, encodeMessage, splitMailboxLines } from "../../mailbox-line.ts"
import {
  decodeTeam,
  encodeTeam,
  filePosition,
  type PositionedMessage,
  parsePosition,
  positionNumber,
  type StoredMember,
  type TeamContent,
} from "../../team-content.ts"
import { FILE_MODE } from "../layout.ts"
import {
  formatCursor,
  linesFrom,
  parseCursor,
  removeSegmentsBefore,
  renewLastSegment,
  segmentPath,
  segmentsIn,
} from "../mailbox-log.ts"
import { listMembers, readMember, takeMember } from "../mailbox-members.ts"
import { makeDirectory } from "../make-directory.ts"
import { ShortLock } from "../short-lock.ts"

const SEGMENT_BYTES = 1024 * 1024
const MAX_SEGMENTS = 1_000 // between two messages; larger gaps never occur
const LOCK = "lock"

/** A message with the position where it ends in the files. */
interface FiledMessage extends PositionedMessage {
  readonly end: number
}

interface FiledTeam extends TeamContent {
  readonly messages: readonly FiledMessage[]
}

export async function readTeam(directory: string): Promise<FiledTeam> {
  const messages: FiledMessage[] = []
  const senders = new Map<string, { readonly sequence: number; readonly damaged: number }>()
  let damaged = 0
  let end = 0
  const raise = (name: string, sequence: number) => {
    if (sequence >= (senders.get(name)?.sequence ?? 0)) senders.set(name, { sequence, damaged })
  }
  for (const segment of await segmentsIn(directory)) {
    const { bytes } = await linesFrom(segmentPath(directory, segment), 0)
    await setImmediate()
    end = positionNumber({ segment, offset: bytes.length })
    for (const { next, line } of splitMailboxLines(bytes)) {
      if (line.state === "damaged") damaged++
      if (line.state === "header")
        for (const [name, sequence] of Object.entries(line.header.senders)) raise(name, sequence)
      if (line.state !== "message") continue
      const { from, to, sequence, content, at } = line.message
      const end = positionNumber({ segment, offset: next })
      raise(from, sequence)
      messages.push({ from, to, sequence, content, at: at ?? end, end })
    }
  }
  // counts like a live sender: a damaged line may have been its message
  const last = [...senders].map(([name, known]) => [name, known.sequence + damaged - known.damaged] as const)
  return { messages, senders: Object.fromEntries(last), members: membersOf(directory, messages), end }
}

function membersOf(directory: string, messages: readonly FiledMessage[]): readonly StoredMember[] {
  return namesIn(join(directory, "members")).flatMap((name) => {
    const member = readMember(directory, name)
    if (!member) return []
    const reached = member.cursor === undefined ? 0 : positionNumber(parseCursor(member.cursor))
    const read = messages.findLast(({ end }) => end <= reached)?.at
    return { name, conversation: member.conversation, ...(read === undefined ? {} : { read }) }
  })
}

function namesIn(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".json"))
    return names.map((name) => name.slice(0, -".json".length)).filter(isSafeId)
  } catch {
    return []
  }
}

/** Whether a running process is a member. */
export const isTeamOpen = async (directory: string): Promise<boolean> =>
  (await listMembers(directory)).some(({ isRunning }) => isRunning)

/** Converts a position from another store to one in these files. */
export async function localCursor(
  directory: string,
  cursor: MailboxCursor | undefined,
): Promise<MailboxCursor | undefined> {
  if (cursor === undefined || !/^\d{1,15}$/.test(cursor)) return cursor
  const reached = parsePosition(cursor)!
  const { messages } = await readTeam(directory)
  const end = messages.findLast(({ at }) => at <= reached)?.end
  return end === undefined ? undefined : formatCursor(filePosition(end)!)
}

interface TeamWrite {
  readonly directory: string
  readonly address: TeamAddress
  readonly texts: ReadonlyMap<string, Buffer>
  readonly now: string
}

/** Appends only: throws unless the stored messages are a prefix of the given ones. A kill leaves such a prefix too. */
export async function writeTeam({ directory, address, texts, now }: TeamWrite): Promise<void> {
  const team = decodeTeam(texts)
  await makeDirectory(directory)
  await withTeamLock({ directory, now }, async () => {
    const before = await readTeam(directory)
    const known = encodeTeam(before).get(MESSAGES)!
    if (!encodeTeam(team).get(MESSAGES)!.subarray(0, known.length).equals(known))
      throw new ContentDiffersError({ kind: "team", ...address }, "a message")
    const isThere = before.messages.length === team.messages.length && (before.end ?? 0) >= (team.end ?? 0)
    const segments = isThere && before.end !== 0 ? [] : encodeSegments(team)
    for (const { segment, bytes } of segments) {
      const path = segmentPath(directory, segment)
      await writeFile(`${path}.draft`, bytes, { mode: FILE_MODE, flush: true })
      await rename(`${path}.draft`, path)
    }
    const written = new Set(segments.map(({ segment }) => segment))
    if (segments.length > 0)
      for (const segment of await segmentsIn(directory))
        if (!written.has(segment)) await rm(segmentPath(directory, segment), { force: true })
    const { messages } = await readTeam(directory)
    for (const { name, conversation, read } of team.members) {
      const end = read === undefined ? undefined : messages.findLast(({ at }) => at <= read)?.end
      const cursor = end === undefined ? {} : { cursor: formatCursor(filePosition(end)!) }
      const nowhere = { pid: 0, host: "moved", started: "", token: randomUUID() }
      await takeMember(directory, { name, conversation, ...nowhere, ...cursor, hasLeft: true })
    }
  })
}

/** Segments that a killed process wrote and did not publish. */
const draftsIn = async (directory: string): Promise<readonly string[]> =>
  (await readdir(directory).catch(() => [] as string[])).filter((name) => name.endsWith(".log.draft"))

/** A team with nothing but drafts is in no list, so erasing would not find it. */
export async function removeOrphanedDrafts(directory: string, now: string): Promise<void> {
  if ((await draftsIn(directory)).length > 0) await withTeamLock({ directory, now }, () => removeDrafts(directory))
}

async function removeDrafts(directory: string): Promise<void> {
  for (const name of await draftsIn(directory)) await rm(join(directory, name), { force: true })
}

/** Erased messages keep their positions: their blanked lines have the same length. */
export async function eraseMessages(directory: string, places: ReadonlySet<number>, now: string): Promise<void> {
  await withTeamLock({ directory, now }, async () => {
    await removeDrafts(directory)
    for (const segment of await segmentsIn(directory)) {
      const path = segmentPath(directory, segment)
      const { bytes } = await linesFrom(path, 0)
      let isChanged = false
      for (const { start, next, line } of splitMailboxLines(bytes)) {
        if (line.state !== "message") continue
        if (!places.has(line.message.at ?? positionNumber({ segment, offset: next }))) continue
        blankMessage(bytes, { start, next, message: line.message })
        isChanged = true
      }
      if (!isChanged) continue
      await writeFile(`${path}.draft`, bytes, { mode: FILE_MODE, flush: true })
      await rename(`${path}.draft`, path)
    }
  })
}

export interface TeamPruneOptions extends PruneCriteria {
  readonly directory: string
  readonly now: string
}

/** Removes old segments that every member has passed. Returns how many messages they contain. */
export async function pruneTeam({ directory, before, dryRun = false, now }: TeamPruneOptions): Promise<number> {
  const cursors = namesIn(join(directory, "members")).map((name) => readMember(directory, name)?.cursor)
  const reached = Math.min(...cursors.map((cursor) => (cursor === undefined ? 0 : parseCursor(cursor).segment)))
  const segments = await segmentsIn(directory)
  const passed: number[] = []
  for (const segment of segments.slice(0, -1)) {
    const facts = await stat(segmentPath(directory, segment)).catch(() => undefined)
    if (!facts || facts.mtime >= before || cursors.length === 0 || segment >= reached - 1) break
    passed.push(segment)
  }
  const last = passed.at(-1)
  if (last === undefined) return 0
  const { messages } = await readTeam(directory)
  if (!dryRun) await withTeamLock({ directory, now }, () => removeSegmentsBefore(directory, last + 2))
  return messages.filter(({ end }) => filePosition(end)!.segment <= last).length
}

interface BlankedMessage {
  readonly start: number
  readonly next: number
  readonly message: Parameters<typeof encodeMessage>[0]
}

function blankMessage(bytes: Buffer, { start, next, message }: BlankedMessage): void {
  const blank = encodeMessage({ ...message, content: {} })
  const room = next - start - blank.length
  const { from, to, sequence, at } = message
  const front = JSON.stringify({ from, to, sequence, content: {}, ...(at === undefined ? {} : { at }) })
  withSum(`${front.slice(0, -1)}${" ".repeat(room)}}`).copy(bytes, start)
}

interface LogSegment {
  readonly segment: number
  readonly bytes: Buffer
}

function encodeSegments({ messages, senders, end = 0 }: TeamContent): readonly LogSegment[] {
  const given = sendersBefore(messages, senders)
  const done: LogSegment[] = []
  let segment = filePosition(messages[0]?.at ?? end)?.segment ?? 1
  let lines = [encodeHeader(sortedSenders(given))]
  let offset = lines[0]!.length
  const rotate = () => {
    done.push({ segment, bytes: Buffer.concat(lines) })
    segment++
    lines = [encodeHeader(sortedSenders(given))]
    offset = lines[0]!.length
  }
  const add = (line: Buffer) => {
    lines.push(line)
    offset += line.length
  }
  for (const { at, ...message } of messages) {
    const wanted = filePosition(at)
    const ahead = wanted ? wanted.segment - segment : 0
    if (ahead > 0 && ahead < MAX_SEGMENTS) for (let n = 0; n < ahead; n++) rotate()
    else if (!wanted && offset >= SEGMENT_BYTES) rotate()
    const plain = encodeMessage(message)
    const gap = wanted?.segment === segment ? wanted.offset - offset - plain.length : -1
    const padding = gap > 0 ? paddedHeader(sortedSenders(given), gap) : undefined // fills the gap of an omitted damaged message
    if (padding) add(padding)
    add(gap === 0 || padding ? plain : encodeMessage({ ...message, at }))
    given.set(message.from, message.sequence)
  }
  const missing = end - positionNumber({ segment, offset })
  const padding = missing > 0 ? paddedHeader(sortedSenders(given), missing) : undefined
  if (padding) add(padding)
  else if (missing > 0) rotate()
  done.push({ segment, bytes: Buffer.concat(lines) })
  return done
}

/** The sequences given before the first message. */
function sendersBefore(messages: readonly PositionedMessage[], senders: TeamContent["senders"]): Map<string, number> {
  const first = new Map<string, number>()
  for (const { from, sequence } of messages) if (!first.has(from)) first.set(from, sequence)
  const before = Object.entries(senders).map(([name, last]) => [name, (first.get(name) ?? last + 1) - 1] as const)
  return new Map(before.filter(([, sequence]) => sequence > 0))
}

const sortedSenders = (senders: ReadonlyMap<string, number>) =>
  Object.fromEntries([...senders].sort(([a], [b]) => (a < b ? -1 : 1)))

/** A header of exactly this length. `undefined` if it does not fit. */
function paddedHeader(senders: Readonly<Record<string, number>>, length: number): Buffer | undefined {
  const room = length - encodeHeader(senders).length
  const json = JSON.stringify({ mailbox: 1, senders })
  return room < 0 ? undefined : withSum(`${json.slice(0, -1)}${" ".repeat(room)}}`)
}

export async function withTeamLock<T>(
  { directory, now }: { readonly directory: string; readonly now: string },
  work: () => Promise<T>,
): Promise<T> {
  const lock = new ShortLock({
    path: join(directory, LOCK),
    now: () => now,
    renew: (by) => renewLastSegment(directory, by),
  })
  try {
    return await lock.hold(work)
  } finally {
    await lock.close()
  }
}
