/** Search in everything that the conversations of a directory ever held. Each search first reads what is new in the journals. */
import { join } from "node:path"
import { BlockReader } from "./block-texts.ts"
import type { SearchAnswer } from "./choose.ts"
import { type Asked, type CatchUp, FollowedJournals, removeDatabase } from "./followed-journals.ts"
import { type Passage, passagesOf } from "./passage.ts"
import { type BlockAround, PassageIndex } from "./passage-index.ts"
import type { Question } from "./ranking.ts"

const INDEX_NAME = "search.sqlite"
/** Of earlier versions. */
const OLD_NAMES = ["blocks.sqlite", "recall.sqlite"]

export interface JournalSearchOptions {
  /** A directory with journals. */
  readonly directory: string
  /** Takes secrets out of a text before it is stored. */
  readonly mask?: (text: string) => string
}

export type JournalAnswer = Omit<SearchAnswer, "found"> & {
  readonly found: readonly (SearchAnswer["found"][number] & { readonly around?: BlockAround })[]
}

export interface JournalQuestion extends Question {
  /** Also gives each whole block and its neighbours, as far as this many passages away. */
  readonly around?: number
}

export class JournalSearch {
  readonly #journals: FollowedJournals<Passage, PassageIndex>

  constructor({ directory, mask = (text) => text }: JournalSearchOptions) {
    this.#journals = new FollowedJournals({
      directory,
      name: INDEX_NAME,
      oldNames: OLD_NAMES,
      open: (path) => new PassageIndex(path),
      reader: (carried) => {
        const reader = new BlockReader(carried)
        return {
          take: (entry) => reader.take(entry).flatMap((block) => passagesOf(block, mask)),
          carried: () => reader.carried(),
        }
      },
    })
  }

  search({ around, ...question }: JournalQuestion, which: CatchUp = {}): Promise<Asked<JournalAnswer>> {
    const only = question.source === undefined ? {} : { only: new Set([question.source]) }
    return this.#journals.ask(
      (index) => {
        const answer = index.search(question)
        if (around === undefined) return answer
        const found = answer.found.map((one) => {
          const beside = index.around(one, around)
          return beside ? { ...one, around: beside } : one
        })
        return { ...answer, found }
      },
      { ...which, ...only },
    )
  }

  /** Reads what is new. Searching does that too; call it where no one waits. */
  update(): Promise<void> {
    return this.#journals.update()
  }

  close(): void {
    this.#journals.close()
  }
}

/** Removes the index of a directory. The next search builds it again from the journals. */
export function removeJournalIndex(directory: string): void {
  for (const name of [INDEX_NAME, ...OLD_NAMES]) removeDatabase(join(directory, name))
}
