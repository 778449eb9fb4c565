/** The unit of search: a block of a message or a part of it, a memory or a part of it. */
import type { RecalledText } from "../../tools/session/recall-source.ts"
import type { BlockText } from "../block-texts.ts"

export interface Passage {
  /** The message's uuid. */
  readonly uuid: string
  /** Indexes of the block: `0`, `0.1`, or empty. */
  readonly blocks: string
  readonly kind: RecalledText["kind"]
  /** Whether it is text of the user or the assistant: no thinking, tools or notes. */
  readonly isDialogue: boolean
  /** The tool's name, or the title of a memory. Indexed like the text. */
  readonly label?: string
  readonly time: string
  /** Offset of the text in the block, and length of the block. */
  readonly start: number
  readonly length: number
  readonly text: string
}

const MAX_PASSAGE = 1_200 // characters: short enough to show what matched, and to keep neighbours near
/** Maximum of one block. Longer ones are dumps, which can be read by their handle. */
const MAX_BLOCK = 2_000_000

export function splitBlock(block: BlockText, mask: (text: string) => string): readonly Passage[] {
  const { uuid, blocks, kind, label, time, text, isSearchable, isDialogue } = block
  if (!isSearchable) return []
  // masked as one text: a secret could otherwise be split in two
  const masked = mask(text.slice(0, MAX_BLOCK))
  const position = {
    uuid,
    blocks: blocks.join("."),
    kind,
    isDialogue,
    ...(label === undefined ? {} : { label }),
    time,
  }
  return splitText(masked).map(({ start, end }) => ({
    ...position,
    start,
    length: masked.length,
    text: masked.slice(start, end),
  }))
}

/** Splits a text at empty lines, else at line ends, sentences and spaces, into consecutive parts without gaps. */
export function splitText(text: string): readonly { readonly start: number; readonly end: number }[] {
  const parts = []
  for (let start = 0; start < text.length; ) {
    const end = start + MAX_PASSAGE < text.length ? cutBefore(text, start) : text.length
    if (text.slice(start, end).trim() !== "") parts.push({ start, end })
    start = end
  }
  return parts
}

function cutBefore(text: string, start: number): number {
  const head = text.slice(start, start + MAX_PASSAGE)
  for (const end of ["\n\n", "\n", ". ", " "]) {
    const at = head.lastIndexOf(end)
    if (at > MAX_PASSAGE / 3) return start + at + end.length
  }
  // not inside a surrogate pair
  return start + MAX_PASSAGE - (/[\uD800-\uDBFF]$/.test(head) ? 1 : 0)
}

/** In the order of their numbers in the index. */
export const KINDS: readonly Passage["kind"][] = ["user", "assistant", "call", "result", "note"]

/** A block with the passages before and after it. */
export interface BlockAround {
  /** The text of the block around the passage, as far as the index has it without gaps. */
  readonly full: { readonly text: string; readonly start: number }
  readonly before?: Passage
  readonly after?: Passage
}

/** `passages`: consecutive ones of a source, including the match. */
export function blockAround(
  passages: readonly Passage[],
  { uuid, blocks }: Pick<Passage, "uuid" | "blocks">,
): BlockAround {
  const isOwn = (passage: Passage) => passage.uuid === uuid && passage.blocks === blocks
  const [first, last] = [passages.findIndex(isOwn), passages.findLastIndex(isOwn)]
  const own = passages.slice(first, last + 1)
  const [before, after] = [passages[first - 1], passages[last + 1]]
  return {
    full: { text: own.map(({ text }) => text).join(""), start: own[0]!.start },
    ...(before ? { before } : {}),
    ...(after ? { after } : {}),
  }
}
