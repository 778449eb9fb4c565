/** Encodes messages of a team's log: one line of JSON with a checksum, like the lines of a journal. */

import { isSafeId, validateId } from "../base/clock.ts"
import { type Flaw, fields, integer, listOf, maybe, record, text } from "../messages/shapes/shapes.ts"
import { isCompleteLine, withoutSum, withSum } from "./line.ts"
import { type MailboxDraft, type MailboxMessage, MailboxMessageError } from "./mailbox.ts"

export interface SentMessage extends Omit<MailboxMessage, "cursor"> {
  /** The position number in another store where the message was sent. Journals refer to it. */
  readonly at?: number
}

/** The first line of a segment: the sequences given before it. */
export interface SegmentHeader {
  readonly mailbox: 1
  readonly senders: Readonly<Record<string, number>>
}

export type MailboxLine =
  | { readonly state: "message"; readonly message: SentMessage }
  | { readonly state: "header"; readonly header: SegmentHeader }
  | { readonly state: "damaged" }

const MAX_CHARACTERS = 500_000 // of a message as JSON; typical messages have a few thousand
const MAX_RECEIVERS = 1_000

/** Returns the draft if it can be written; throws otherwise. */
export function validateMailboxDraft(draft: MailboxDraft): MailboxDraft {
  validateId("name for an agent", draft.from)
  for (const name of draft.to) validateId("name for an agent", name)
  if (draft.to.length === 0) throw new MailboxMessageError("it has no receiver")
  if (draft.to.length > MAX_RECEIVERS) throw new MailboxMessageError(`it has more than ${MAX_RECEIVERS} receivers`)
  if (JSON.stringify(draft.content).length > MAX_CHARACTERS)
    throw new MailboxMessageError(`it has more than ${MAX_CHARACTERS} characters`)
  return draft
}

export const encodeMessage = ({ from, to, sequence, content, at }: SentMessage): Buffer =>
  withSum(JSON.stringify({ from, to, sequence, content, ...(at === undefined ? {} : { at }) }))

export const encodeHeader = (senders: SegmentHeader["senders"]): Buffer =>
  withSum(JSON.stringify({ mailbox: 1, senders }))

const messageFlaw = fields(
  { from: text(), to: listOf(text()), sequence: integer(), content: record, at: maybe(integer()) },
  "open",
)

const headerFlaw = fields({ senders: (value) => record(value) ?? everySequence(value) }, "open")

function everySequence(value: unknown): Flaw | undefined {
  return Object.values(value as object)
    .map(integer())
    .find((flaw) => flaw !== undefined)
}

/** Decodes a line without its line end. */
export function decodeMailboxLine(line: Buffer): MailboxLine {
  if (!isCompleteLine(line)) return { state: "damaged" }
  try {
    const value = JSON.parse(withoutSum(line)) as SentMessage | SegmentHeader
    if ("mailbox" in value)
      return headerFlaw(value) === undefined ? { state: "header", header: value } : { state: "damaged" }
    const isUsable = messageFlaw(value) === undefined && [value.from, ...value.to].every(isSafeId)
    return isUsable ? { state: "message", message: value } : { state: "damaged" }
  } catch {
    return { state: "damaged" }
  }
}

export interface MailboxChunk {
  /** Offset of the chunk within the given bytes. */
  readonly start: number
  /** Offset of the first byte after the chunk and its line end. */
  readonly next: number
  readonly line: MailboxLine
}

const LINE_END = 0x0a
const LINE_CLOSE = /,"sum":"[0-9a-f]{8}"\}/g

/** Splits bytes that end with a line end into lines. If a line end was changed, the lines on both sides of it are still found. */
export function* splitMailboxLines(bytes: Buffer): Generator<MailboxChunk> {
  for (let start = 0, end = bytes.indexOf(LINE_END); end >= 0; start = end + 1, end = bytes.indexOf(LINE_END, start)) {
    const line = decodeMailboxLine(bytes.subarray(start, end))
    if (line.state === "damaged") yield* completeLinesIn(bytes.subarray(0, end + 1), start)
    else yield { start, next: end + 1, line }
  }
}

/** Whether bytes without a line end contain a complete line. */
export const holdsCompleteLine = (bytes: Buffer): boolean =>
  [...completeLinesIn(Buffer.concat([bytes, Buffer.of(LINE_END)]), 0)].some(({ line }) => line.state !== "damaged")

function* completeLinesIn(bytes: Buffer, from: number): Generator<MailboxChunk> {
  const raw = bytes.toString("latin1", from)
  let start = from
  for (const { index, 0: close } of raw.matchAll(LINE_CLOSE)) {
    const end = from + index + close.length
    const begin = completeLineStart(bytes, start, end)
    if (begin === undefined) continue
    if (begin > start) yield { start, next: begin, line: { state: "damaged" } }
    yield { start: begin, next: end + 1, line: decodeMailboxLine(bytes.subarray(begin, end)) }
    start = end + 1 // the byte in between was the line end
  }
  if (start < bytes.length - 1) yield { start, next: bytes.length, line: { state: "damaged" } }
}

const FRONTS = ['{"from":"', '{"mailbox":']
const MAX_TRIES = 20

/** The start of a complete line with this end, if there is one. */
function completeLineStart(bytes: Buffer, start: number, end: number): number | undefined {
  const part = bytes.subarray(start, end)
  for (const front of FRONTS)
    for (let at = part.indexOf(front), tries = 0; at >= 0 && tries < MAX_TRIES; at = part.indexOf(front, at + 1)) {
      tries++
      if (isCompleteLine(part.subarray(at))) return start + at
    }
  return undefined
}
