/** Search in everything that the conversations of a directory ever held. A search first reads what is new in the journals, unless it need not be new. */
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { type Clock, systemClock } from "../base/clock.ts"
import { checkedId } from "../base/ids.ts"
import { maskSecrets } from "../base/secrets/find-secrets.ts"
import { Shared } from "../base/shared.ts"
import { FileFeed } from "../journal/file/file-feed.ts"
import type { SearchAnswer } from "./answer/choose.ts"
import type { Question } from "./answer/ranking.ts"
import { BlockReader } from "./block-texts.ts"
import { type Asked, type CatchUp, FollowedJournals } from "./index/followed-journals.ts"
import { removeDatabase } from "./index/index-file.ts"
import { PassageIndex } from "./index/passage-index.ts"
import { type BlockAround, passagesOf } from "./passages/passage.ts"

const INDEX_NAME = "search.sqlite"
/** Of earlier versions. */
const OLD_NAMES = ["blocks.sqlite", "recall.sqlite"]

interface JournalSearchOptions {
  /** A directory with journals. */
  readonly directory: string
  /** Follows only this conversation, with an index of its own. */
  readonly only?: string
  /** Takes secrets out of a text before it is stored. */
  readonly mask?: (text: string) => string
  readonly clock?: Clock
}

export type JournalAnswer = Omit<SearchAnswer, "found"> & {
  readonly found: readonly (SearchAnswer["found"][number] & { readonly around?: BlockAround })[]
}

export interface JournalQuestion extends Question {
  /** Also gives each whole block and its neighbours, as far as this many passages away. */
  readonly around?: number
}

export class JournalSearch {
  readonly #journals: FollowedJournals
  readonly #only: CatchUp

  constructor({ directory, only, mask = maskSecrets, clock = systemClock }: JournalSearchOptions) {
    this.#only = only === undefined ? {} : { only: new Set([only]) }
    this.#journals = new FollowedJournals({
      feed: new FileFeed(directory),
      name: only === undefined ? INDEX_NAME : `${checkedId("conversation id", only)}.${INDEX_NAME}`,
      oldNames: OLD_NAMES,
      hearsAppends: only === undefined,
      clock,
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
    const only = question.source === undefined ? this.#only : { only: new Set([question.source]) }
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
    return this.#journals.update(this.#only)
  }

  close(): void {
    this.#journals.close()
  }
}

const searches = new Shared<JournalSearch>()

/** The search in a directory, one for all conversations of this process: each has open files, and would read what the others have read. */
export const sharedJournalSearch = (directory: string) =>
  searches.use(directory, () => new JournalSearch({ directory }))

/** Removes the indexes of a directory. The next search builds them again from the journals. */
export function removeJournalIndex(directory: string): void {
  const names = statSync(directory, { throwIfNoEntry: false }) ? readdirSync(directory) : []
  const own = names.filter((name) => name.endsWith(`.${INDEX_NAME}`))
  for (const name of [INDEX_NAME, ...own, ...OLD_NAMES]) removeDatabase(join(directory, name))
}
