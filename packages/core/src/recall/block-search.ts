/** Search in everything that the conversations of a directory ever held. Each search first reads what is new in the journals. */
import { join } from "node:path"
import { BlockIndex, type BlockPassage, type BlockQuestion, type BlocksFound } from "./block-index.ts"
import { BlockReader, type BlockText } from "./block-texts.ts"
import { type Asked, type CatchUp, FollowedJournals, removeDatabase } from "./followed-journals.ts"

const INDEX_NAME = "blocks.sqlite"
const LONGEST_PASSAGE = 1_500 // characters: about what is shown around a match
/** Of one block. Longer ones are dumps; all of them can be read by their handle. */
const LONGEST_BLOCK = 2_000_000

export interface BlockSearchOptions {
  /** A directory with journals. */
  readonly directory: string
  /** Takes secrets out of a text before it is stored. */
  readonly mask?: (text: string) => string
}

export class BlockSearch {
  readonly #journals: FollowedJournals<BlockPassage, BlockIndex>

  constructor({ directory, mask = (text) => text }: BlockSearchOptions) {
    this.#journals = new FollowedJournals({
      directory,
      name: INDEX_NAME,
      open: (path) => new BlockIndex(path),
      reader: (carried) => {
        const reader = new BlockReader(carried)
        return {
          take: (entry) => reader.take(entry).flatMap((block) => passagesOf(block, mask)),
          carried: () => reader.carried(),
        }
      },
    })
  }

  search(question: BlockQuestion, which: CatchUp = {}): Promise<Asked<BlocksFound>> {
    return this.#journals.ask((index) => index.search(question), {
      ...which,
      ...(question.source === undefined ? {} : { only: new Set([question.source]) }),
    })
  }

  close(): void {
    this.#journals.close()
  }
}

/** Removes the index of a directory. The next search builds it again from the journals. */
export const removeBlockIndex = (directory: string): void => removeDatabase(join(directory, INDEX_NAME))

export function passagesOf(
  { uuid, blocks, kind, label, time, text, isSearchable }: BlockText,
  mask: (text: string) => string,
): readonly BlockPassage[] {
  if (!isSearchable) return []
  // masked whole: a secret could be cut in two
  const masked = mask(text.slice(0, LONGEST_BLOCK))
  const place = { uuid, blocks: blocks.join("."), kind, ...(label === undefined ? {} : { label }), time }
  return partsOf(masked).map(({ start, end }) => ({
    ...place,
    start,
    length: masked.length,
    text: masked.slice(start, end),
  }))
}

/** Cuts a text at line ends, else at spaces, into parts that follow each other without a gap. */
export function partsOf(text: string): readonly { readonly start: number; readonly end: number }[] {
  const parts = []
  for (let start = 0; start < text.length; ) {
    const end = start + LONGEST_PASSAGE < text.length ? cutBefore(text, start) : text.length
    if (text.slice(start, end).trim() !== "") parts.push({ start, end })
    start = end
  }
  return parts
}

function cutBefore(text: string, start: number): number {
  const head = text.slice(start, start + LONGEST_PASSAGE)
  const cut = ["\n", " "].map((end) => head.lastIndexOf(end)).find((at) => at > LONGEST_PASSAGE / 2)
  if (cut !== undefined) return start + cut + 1
  // not inside a character of two units
  return start + LONGEST_PASSAGE - (/[\uD800-\uDBFF]$/.test(head) ? 1 : 0)
}
