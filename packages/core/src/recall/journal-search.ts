/** Search in everything that the conversations of a place ever held. A search first reads what is new in the journals, unless it need not be new. */
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { type Clock, systemClock, validateId } from "../base/clock.ts"
import { maskSecrets } from "../base/secrets/find-secrets.ts"
import { RefCounted, RefCountedPerObject } from "../base/work.ts"
import type { PassageStore } from "../journal/passage-store.ts"
import type { JournalAddress, JournalFeed, Store } from "../journal/store.ts"
import type { PassageSearchResult } from "./answer/choose.ts"
import type { Question } from "./answer/ranking.ts"
import { BlockReader } from "./block-texts.ts"
import type { IncrementalIndex } from "./index/incremental-index.ts"
import { removeDatabase } from "./index/index-file.ts"
import { PassageIndex } from "./index/passage-index.ts"
import { RemoteIndex } from "./index/remote-index.ts"
import { TOKENS_VERSION } from "./index/tokens.ts"
import { type CatchUpOptions, type IndexAnswer, TrackedJournals } from "./index/tracked-journals.ts"
import { type BlockAround, splitBlock } from "./passages/passage.ts"
import { EmbeddedPassages, type EmbedFunction } from "./vectors/embedded-passages.ts"

const JUST_SEARCHED_MS = 60_000
const INDEX_NAME = "search.sqlite"
/** Of earlier versions. */
const OLD_NAMES = ["blocks.sqlite", "recall.sqlite"]

interface JournalSearchOptions {
  /** The journals of the place. It is closed with the search. */
  readonly feed: JournalFeed
  /** Follows only this conversation, with an index of its own. */
  readonly only?: string
  /** Where the store keeps the index, if it does. Default: a file in the feed's directory, or in memory. */
  readonly passageStore?: PassageStore | undefined
  /** Takes secrets out of a text before it is stored. */
  readonly mask?: (text: string) => string
  readonly clock?: Clock
}

export type JournalSearchResult = Omit<PassageSearchResult, "found"> & {
  readonly found: readonly (PassageSearchResult["found"][number] & { readonly around?: BlockAround })[]
}

export interface JournalQuestion extends Question {
  /** Also gives each whole block and its neighbours, as far as this many passages away. */
  readonly around?: number
}

export class JournalSearch {
  readonly #journals: TrackedJournals
  readonly #only: CatchUpOptions
  readonly #embedded = new WeakMap<EmbedFunction, EmbeddedPassages>()

  constructor({ feed, only, passageStore, mask = maskSecrets, clock = systemClock }: JournalSearchOptions) {
    this.#only = only === undefined ? {} : { only: new Set([only]) }
    this.#journals = new TrackedJournals({
      feed,
      name: only === undefined ? INDEX_NAME : `${validateId("conversation id", only)}.${INDEX_NAME}`,
      oldNames: OLD_NAMES,
      hearsAppends: only === undefined,
      clock,
      open: (path) => new PassageIndex(path),
      ...(passageStore ? { served: new RemoteIndex(passageStore) } : {}),
      reader: (carried) => {
        const reader = new BlockReader(carried)
        return {
          take: (entry) => reader.take(entry).flatMap((block) => splitBlock(block, mask)),
          carried: () => reader.carried(),
        }
      },
    })
  }

  search(
    { around, ...question }: JournalQuestion,
    which: CatchUpOptions = {},
  ): Promise<IndexAnswer<JournalSearchResult>> {
    const only = question.source === undefined ? this.#only : { only: new Set([question.source]) }
    return this.#journals.ask(
      async (index) => {
        const answer = await index.search(question)
        if (around === undefined) return answer
        const surroundings = await index.around(answer.found, around)
        const found = answer.found.map((one, at) => (surroundings[at] ? { ...one, around: surroundings[at] } : one))
        return { ...answer, found }
      },
      { ...which, ...only },
    )
  }

  /** By an embedding function. Call it after a search: it reads nothing new. Throws if the function fails. */
  async nearest(embed: EmbedFunction, question: JournalQuestion): Promise<JournalSearchResult["found"]> {
    const known = this.#embedded.get(embed)
    const ask = async <T>(asking: (index: IncrementalIndex) => T | Promise<T>) =>
      (await this.#journals.ask(asking, { ...this.#only, maxAge: JUST_SEARCHED_MS })).answer
    const embedded = known ?? new EmbeddedPassages({ embed, ask })
    this.#embedded.set(embed, embedded)
    const { around = 0, ...rest } = question
    return embedded.nearest(rest, around)
  }

  /** Reads what is new. Searching does that too; call it where no one waits. */
  update(): Promise<void> {
    return this.#journals.update(this.#only)
  }

  /** Until the next search, which looks for what is new, it does nothing. */
  rest(): void {
    this.#journals.rest()
  }

  close(): void {
    this.#journals.close()
  }
}

/** Where journals are beside each other: those of a project, or the sub-agents' of one conversation. */
export type JournalNamespace = Omit<JournalAddress, "id">

/** Where the store keeps the index, if it does. */
const passageStoreOf = (
  store: Store,
  namespace: JournalNamespace & { readonly only?: string },
  tokens = TOKENS_VERSION,
) => store.passages?.({ ...namespace, tokens })

/** The search in a place, or in one conversation of it. Close it. */
export function journalSearchIn(store: Store, { project, under }: JournalNamespace, only?: string): JournalSearch {
  const namespace = under === undefined ? { project } : { project, under }
  const of = only === undefined ? {} : { only }
  return new JournalSearch({
    feed: store.feed(namespace),
    passageStore: passageStoreOf(store, { ...namespace, ...of }),
    ...of,
  })
}

/** Indexes in memory that stay open without a user: the next one would read all journals again. Each is about as large as its journals. */
const MAX_IDLE = 32

const inFiles = new RefCounted<JournalSearch>()
const inStores = new RefCountedPerObject<JournalSearch>({ maxIdle: MAX_IDLE })

/**
 * The search in a place, one for all conversations of this process: each has open files, and would read what the others have read. Stores
 * with the same files share it.
 */
export function sharedJournalSearch(store: Store, { project, under }: JournalNamespace) {
  const namespace = under === undefined ? { project } : { project, under }
  const feed = store.feed(namespace)
  const { directory } = feed
  let isUsed = false
  const open = () => {
    isUsed = true
    return new JournalSearch({ feed, passageStore: passageStoreOf(store, namespace) })
  }
  const search =
    directory === undefined
      ? inStores.of(store).use(JSON.stringify([project, under]), open)
      : inFiles.use(directory, open)
  if (!isUsed) feed.close()
  return search
}

/** Removes the indexes of a place. The next search builds them again from the journals. */
export async function removeJournalIndex(store: Store, namespace: JournalNamespace): Promise<void> {
  // what is erased must leave those of older versions too
  for (let tokens = 1; tokens <= TOKENS_VERSION; tokens++) await passageStoreOf(store, namespace, tokens)?.clear()
  const feed = store.feed(namespace)
  if (feed.directory !== undefined) removeFiles(feed.directory)
  feed.close()
}

function removeFiles(directory: string): void {
  const names = statSync(directory, { throwIfNoEntry: false }) ? readdirSync(directory) : []
  const own = names.filter((name) => name.endsWith(`.${INDEX_NAME}`))
  for (const name of [INDEX_NAME, ...own, ...OLD_NAMES]) removeDatabase(join(directory, name))
}
