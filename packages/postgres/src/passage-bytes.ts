/** Encodes passages and postings for the server as bytes, because their texts may contain characters that a text of the server cannot. */
import { hash } from "node:crypto"
import type { NewPassage, PassageUpdate, StoredPassage } from "@strata/core/store"
import { FACTS } from "@strata/core/store"

/** A passage's message, block and label. */
type Head = readonly [uuid: string, blocks: string, label?: string]

const headOf = ({ uuid, blocks, label }: NewPassage): Buffer => {
  const head: Head = label === undefined ? [uuid, blocks] : [uuid, blocks, label]
  return Buffer.from(JSON.stringify(head))
}

/** The columns that `strata.shelf_extend` takes, in its order. */
export function stepColumns(steps: readonly PassageUpdate[]): readonly unknown[] {
  const passages = steps.flatMap((step, at) => step.passages.map((passage, nth) => ({ passage, step: at + 1, nth })))
  const turns = steps.map(({ passages: own }) => turnsOf(own))
  const heads = passages.map(({ passage }) => headOf(passage))
  const texts = passages.map(({ passage }) => Buffer.from(passage.text))
  return [
    steps.map(({ source }) => source),
    steps.map(({ from }) => from ?? null),
    steps.map(({ to }) => to),
    steps.map(({ passages: own }) => own.length),
    turns.map(({ each }) => each.at(-1) ?? 0),
    turns.map(({ first }) => first),
    turns.map(({ last }) => last),
    passages.map(({ step }) => step),
    passages.map(({ nth }) => nth),
    turns.flatMap(({ each }) => each),
    passages.map(({ passage }) => passage.facts),
    passages.map(({ passage }) => passage.terms),
    passages.map(({ passage }) => passage.time),
    passages.map(({ passage }) => passage.start),
    passages.map(({ passage }) => passage.length),
    heads.map(({ length }) => length),
    texts.map(({ length }) => length),
    Buffer.concat(heads.flatMap((head, at) => [head, texts[at]!])),
    ...listColumns(steps),
  ]
}

/**
 * The turn of each passage, counted from the last one before the step. The first speaker may be the previous one: the server compares them.
 */
function turnsOf(passages: readonly NewPassage[]) {
  const dialogue = passages.filter(({ isDialogue }) => isDialogue)
  let [turn, speaking] = [0, undefined as string | undefined]
  const each = passages.map(({ isDialogue, uuid }) => {
    if (isDialogue && uuid !== speaking) {
      turn++
      speaking = uuid
    }
    return turn
  })
  return { each, first: speakerOf(dialogue[0]), last: speakerOf(dialogue.at(-1)) }
}

const speakerOf = (passage: NewPassage | undefined): string | null => (passage ? hash("sha1", passage.uuid) : null)

/** For each step and token: the number of passages, and where its list ends in the concatenated bytes of all lists. */
function listColumns(steps: readonly PassageUpdate[]): readonly unknown[] {
  const [stepOf, tokens, documents, ends]: [number[], string[], number[], number[]] = [[], [], [], []]
  const bytes: number[] = []
  for (const [at, { passages }] of steps.entries()) {
    const lists = new Map<string, number[]>()
    for (const [nth, passage] of passages.entries())
      for (const token of passage.tokens) {
        const list = lists.get(token)
        if (!list) lists.set(token, [nth])
        else if (list.at(-1) !== nth) list.push(nth)
      }
    for (const [token, list] of lists) {
      stepOf.push(at + 1)
      tokens.push(token)
      documents.push(list.length)
      addNumber(bytes, list.length)
      let before = 0
      for (const nth of list) {
        addNumber(bytes, nth - before)
        before = nth
      }
      ends.push(bytes.length)
    }
  }
  return [stepOf, tokens, documents, ends, Buffer.from(bytes)]
}

/** Seven bits per byte, lowest first. The eighth bit is set if more bytes follow. */
function addNumber(bytes: number[], number: number): void {
  let rest = number
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  bytes.push(rest)
}

/**
 * A list consists of one part per step: the id of its first passage, the number of passages that follow, and the distance of each from the
 * one before.
 */
export function listIn(bytes: Buffer): Uint32Array {
  const ids = new Uint32Array(bytes.length)
  let [count, at] = [0, 0]
  const next = () => {
    let [number, shift] = [0, 0]
    for (;;) {
      const byte = bytes[at++]!
      number |= (byte & 0x7f) << shift
      if (byte < 0x80) return number
      shift += 7
    }
  }
  while (at < bytes.length) {
    let id = bytes.readUInt32BE(at)
    at += 4
    for (let left = next(); left > 0; left--) {
      id += next()
      ids[count++] = id
    }
  }
  return ids.slice(0, count)
}

const FACT_BYTES = 4 * (FACTS - 1) + 8

/** Six integers and a time for each passage. */
export function factsIn(bytes: Buffer): Float64Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const values = new Float64Array((bytes.length / FACT_BYTES) * FACTS)
  for (let [from, to] = [0, 0]; from < bytes.length; from += FACT_BYTES, to += FACTS) {
    for (let field = 0; field < FACTS - 1; field++) values[to + field] = view.getInt32(from + 4 * field)
    values[to + FACTS - 1] = view.getFloat64(from + FACT_BYTES - 8)
  }
  return values
}

export const countsIn = (bytes: Buffer): readonly number[] =>
  Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readInt32BE(4 * at))

const ROW_HEAD = 36 // bytes before the texts of a row

export function rowsIn(bytes: Buffer): readonly StoredPassage[] {
  const rows: StoredPassage[] = []
  for (let at = 0; at < bytes.length; ) {
    const texts = at + ROW_HEAD
    const past = texts + bytes.readInt32BE(at + 28)
    const end = past + bytes.readInt32BE(at + 32)
    const [uuid, blocks, label] = JSON.parse(bytes.toString("utf8", texts, past)) as Head
    rows.push({
      ...{ id: bytes.readInt32BE(at), source: bytes.readInt32BE(at + 4), facts: bytes.readInt32BE(at + 8) },
      ...{ start: bytes.readInt32BE(at + 12), length: bytes.readInt32BE(at + 16), time: bytes.readDoubleBE(at + 20) },
      ...{ uuid, blocks, ...(label === undefined ? {} : { label }) },
      text: bytes.toString("utf8", past, end),
    })
    at = end
  }
  return rows
}
