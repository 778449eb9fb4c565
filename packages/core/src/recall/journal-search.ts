/** Search in all conversations of a namespace. A search first reads new lines of the journals, unless its options allow older results. */
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
import { removeDatabase, removeUnusedDatabase } from "./index/index-file.ts"
import { PassageIndex } from "./index/passage-index.ts"
import { RemoteIndex } from "./index/remote-index.ts"
import { TOKENS_VERSION } from "./index/tokens.ts"
import { type CatchUpOptions, type IndexAnswer, TrackedJournals } from "./index/tracked-journals.ts"
import { type BlockAround, splitBlock } from "./passages/passage.ts"
import { EmbeddedPassages, type EmbedFunction } from "./vectors/embedded-passages.ts"

const JUST_SEARCHED_MS = 60_000
const INDEX_NAME = "search.sqlite"
/** File names of earlier versions. */
const OLD_NAMES = ["blocks.sqlite", "recall.sqlite"]

interface JournalSearchOptions {
  /** The journals of the namespace. Closed together with the search. */
  readonly feed: JournalFeed
  /** Tracks only this conversation, with an index of its own. */
  readonly only?: string
  /** The store's passage store, if it has one. Default: a file in the feed's directory, or memory. */
  readonly passageStore?: PassageStore | undefined
  /** Masks secrets in a text before it is stored. */
  readonly mask?: (text: string) => string
  readonly clock?: Clock
}

export type JournalSearchResult = Omit<PassageSearchResult, "found"> & {
  readonly found: readonly (PassageSearchResult["found"][number] & { readonly around?: BlockAround })[]
}

export interface JournalQuestion extends Question {
  /** Adds the full block of each match and its neighbours, up to this many passages away. */
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

  /** Searches with an embedding function. Call it after a search: it reads no new lines. Throws if the function fails. */
  async nearest(embed: EmbedFunction, question: JournalQuestion): Promise<JournalSearchResult["found"]> {
    const known = this.#embedded.get(embed)
    const ask = async <T>(asking: (index: IncrementalIndex) => T | Promise<T>) =>
      (await this.#journals.ask(asking, { ...this.#only, maxAge: JUST_SEARCHED_MS })).answer
    const embedded = known ?? new EmbeddedPassages({ embed, ask })
    this.#embedded.set(embed, embedded)
    const { around = 0, ...rest } = question
    return embedded.nearest(rest, around)
  }

  /** Reads new lines. Searching does that too; call this where no one waits. */
  update(): Promise<void> {
    return this.#journals.update(this.#only)
  }

  /** Stops background work until the next search, which reads new lines again. */
  rest(): void {
    this.#journals.rest()
  }

  close(): void {
    this.#journals.close()
  }
}

/** A group of journals: those of a project, or of the sub-agents of one conversation. */
export type JournalNamespace = Omit<JournalAddress, "id">

/** The passage store of a namespace, if the store has one. */
const passageStoreOf = (
  store: Store,
  namespace: JournalNamespace & { readonly only?: string },
  tokens = TOKENS_VERSION,
) => store.passages?.({ ...namespace, tokens })

/** Opens the search in a namespace, or in one conversation of it. The caller closes it. */
export function journalSearchIn(store: Store, { project, under }: JournalNamespace, only?: string): JournalSearch {
  const namespace = under === undefined ? { project } : { project, under }
  const of = only === undefined ? {} : { only }
  return new JournalSearch({
    feed: store.feed(namespace),
    passageStore: passageStoreOf(store, { ...namespace, ...of }),
    ...of,
  })
}

/**
 * Indexes in memory that stay open without a user, because the next one would have to read all journals again. Each is about as large
 * as its journals.
 */
const MAX_IDLE = 32

const inFiles = new RefCounted<JournalSearch>()
const inStores = new RefCountedPerObject<JournalSearch>({ maxIdle: MAX_IDLE })

/**
 * The search in a namespace, shared by all conversations of this process: each search has open files, and would read the same journals.
 * Stores with the same files share it.
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

/** Removes the indexes of a namespace. The next search rebuilds them from the journals. */
export async function removeJournalIndex(store: Store, namespace: JournalNamespace): Promise<void> {
  // erased content must be removed from indexes of older versions too
  for (let tokens = 1; tokens <= TOKENS_VERSION; tokens++) await passageStoreOf(store, namespace, tokens)?.clear()
  const feed = store.feed(namespace)
  if (feed.directory !== undefined) removeFiles(feed.directory)
  feed.close()
}

/** Removes the index files of a namespace without journals. Returns whether there were any, and whether a process has one open. */
export function removeUnusedIndex(store: Store, namespace: JournalNamespace): "none" | "removed" | "open" {
  const feed = store.feed(namespace)
  const paths = feed.directory === undefined ? [] : indexFiles(feed.directory)
  feed.close()
  if (paths.length === 0) return "none"
  return paths.map(removeUnusedDatabase).every((isGone) => isGone) ? "removed" : "open"
}

function removeFiles(directory: string): void {
  for (const path of indexFiles(directory)) removeDatabase(path)
}

function indexFiles(directory: string): readonly string[] {
  const names = statSync(directory, { throwIfNoEntry: false }) ? readdirSync(directory) : []
  const own = new Set(names.map((name) => name.replace(/-(?:wal|shm)$/, "")).filter(isIndexName))
  return [...own].map((name) => join(directory, name))
}

const isIndexName = (name: string): boolean =>
  name === INDEX_NAME || name.endsWith(`.${INDEX_NAME}`) || OLD_NAMES.includes(name)
