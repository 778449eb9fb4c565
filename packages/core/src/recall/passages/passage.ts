/** The unit that search finds: a block of a message or a part of it, a memory or a part of it. */
import type { RecalledText } from "../../tools/session/recall-source.ts"
import type { BlockText } from "../block-texts.ts"

export interface Passage {
  /** The message. */
  readonly uuid: string
  /** The place of the block: `0`, `0.1`, or empty. */
  readonly blocks: string
  readonly kind: RecalledText["kind"]
  /** Whether the person or the assistant said it: no thinking, no tools, no notes. */
  readonly isDialogue: boolean
  /** Counts as a term too: the tool, the title of a memory. */
  readonly label?: string
  readonly time: string
  /** Where the text begins in the block, and how long the block is. */
  readonly start: number
  readonly length: number
  readonly text: string
}

const MAX_PASSAGE = 1_200 // characters: what matched is easy to see, and neighbours stay near
/** Of one block. Longer ones are dumps; all of them can be read by their handle. */
const MAX_BLOCK = 2_000_000

export function splitBlock(block: BlockText, mask: (text: string) => string): readonly Passage[] {
  const { uuid, blocks, kind, label, time, text, isSearchable, isDialogue } = block
  if (!isSearchable) return []
  // masked whole: a secret could be cut in two
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

/** Cuts a text at empty lines, else at line ends, sentences and spaces, into parts that follow each other without a gap. */
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
  // not inside a character of two units
  return start + MAX_PASSAGE - (/[\uD800-\uDBFF]$/.test(head) ? 1 : 0)
}

/** In the order in which an index numbers them. */
export const KINDS: readonly Passage["kind"][] = ["user", "assistant", "call", "result", "note"]

/** A block and the ones right before and after it. */
export interface BlockAround {
  /** The text of the block around the passage, as far as the index has it in one piece. */
  readonly full: { readonly text: string; readonly start: number }
  readonly before?: Passage
  readonly after?: Passage
}

/** `passages`: some of one source, in order, with the one that was found. */
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
