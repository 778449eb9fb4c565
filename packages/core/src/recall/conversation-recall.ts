/**
 * The history of one conversation for the Recall tool: by handle, by range, by search. Handles resolve in this journal, in those of its
 * sub-agents, and in other conversations of the same project and owner. A sub-agent sees only its own conversation, and so does a
 * conversation without an owner.
 */

import { isSafeId } from "../base/clock.ts"
import { ConversationNotFoundError } from "../base/errors.ts"
import type { Journal, JournalAddress, Store } from "../journal/store.ts"
import type {
  RecalledItem,
  RecalledText,
  RecallMatches,
  RecallRange,
  RecallSearch,
  RecallSource,
} from "../tools/session/recall-source.ts"
import type { Question } from "./answer/ranking.ts"
import {
  type JournalNamespace,
  type JournalQuestion,
  type JournalSearch,
  type JournalSearchResult,
  journalSearchIn,
  sharedJournalSearch,
} from "./journal-search.ts"
import {
  quoteMatch,
  type ResolvedMessage,
  resolveHandle,
  resolveMessages,
  resolveRange,
  shortConversationId,
  textsIn,
  withoutPrefix,
} from "./resolve-handle.ts"
import { CANDIDATES, type EmbedFunction, fuseByRank } from "./vectors/embedded-passages.ts"

/** Passages to read on both sides of a match, to quote its full block: about 12,000 tokens. */
const AROUND_MATCH = 40
/** How long a search waits for other conversations to be indexed. */
const MAX_WAIT_MS = 10_000

const LATE = "Some conversations are not indexed yet. Search again to include them."
const LATE_HERE = "The newest part of this conversation is not indexed yet. Search again to include it."
const ONLY_OWN = "Only your own conversation was searched. Ask your lead for more."
const ONLY_THIS = "Only this conversation was searched: it has no owner, so it shares nothing with others."
const FAILED = "The embedding function failed, so words alone were searched. It said:"
const LOCKED = "Another process keeps the search index locked, so the journals were read instead."

interface ConversationRecallOptions {
  readonly store: Store
  readonly journal: Journal
  /** Whether other conversations in this namespace of the store can be searched, because they have the same owner. */
  readonly isShared: boolean
  /** Namespaces of the store with conversations of the same project and owner. */
  readonly namespaces: () => Promise<readonly string[]>
  readonly estimate: (text: string) => number
  /** An embedding function that complements the full-text search. */
  readonly embed?: EmbedFunction | undefined
  /** The time to which "last week" in a question refers. Default: the system's clock. */
  readonly now?: () => Date
}

type Matches = Pick<JournalSearchResult, "found" | "more"> & Pick<RecallMatches, "gap">

/** Key of a namespace in maps. */
const namespaceKey = ({ project, under }: JournalNamespace): string => JSON.stringify([project, under])

export class ConversationRecall implements RecallSource {
  readonly #options: ConversationRecallOptions
  readonly #searches = new Map<string, { readonly value: JournalSearch; close(): void }>()
  #closed = false
  /** First failure of the embedding function. It is reported once. */
  #failure: string | undefined
  #isFailureReported = false

  constructor(options: ConversationRecallOptions) {
    this.#options = options
  }

  isOpen(): boolean {
    return !this.#closed
  }

  estimate(text: string): number {
    return this.#options.estimate(text)
  }

  /** Resolves a handle, newest match first. */
  async find(handle: string): Promise<readonly ResolvedMessage[]> {
    return (await this.#within(handle, ({ journal }) => resolveMessages(journal, withoutPrefix(handle)))) ?? []
  }

  async findByHandle(handle: string): Promise<readonly RecalledItem[]> {
    return (await this.#within(handle, (where) => resolveHandle(where, handle))) ?? []
  }

  async range({ from, to, ...filter }: RecallRange): Promise<AsyncIterable<RecalledText> | undefined> {
    const ends = to === undefined ? { from } : { from, to }
    const found = await this.#within(from, async ({ journal, prefix }) => {
      const range = await resolveRange(journal, ends)
      return range && { prefix, stretch: range }
    })
    if (!found) return undefined
    const { prefix, stretch: range } = found
    const open = () => this.#open(prefix)
    return (async function* () {
      const opened = await open()
      if (!opened) return
      try {
        yield* textsIn({ journal: opened.journal, prefix }, { ...range, filter })
      } finally {
        await opened.release()
      }
    })()
  }

  async search(search: RecallSearch): Promise<RecallMatches> {
    const { journal } = this.#options
    const { in: requested, ...asked } = search
    const question = { ...asked, now: this.#options.now?.() ?? new Date() }
    const where = this.#isAlone ? "conversation" : requested
    const { found, more, gap } = await this.#searchIndexes(question, where)
    const narrowed = where === requested ? undefined : this.#isSubAgent ? ONLY_OWN : ONLY_THIS
    const gaps = [gap, narrowed].filter((each) => each !== undefined)
    return {
      found: found.map((one) =>
        quoteMatch(one, one.source === journal.address.id ? "" : shortConversationId(one.source)),
      ),
      more,
      ...(gaps.length === 0 ? {} : { gap: gaps.join(" ") }),
    }
  }

  get #isSubAgent(): boolean {
    return this.#options.journal.address.under !== undefined
  }

  /** Whether no other conversation can be searched. */
  get #isAlone(): boolean {
    return this.#isSubAgent || !this.#options.isShared
  }

  close(): void {
    this.#closed = true
    for (const search of this.#searches.values()) search.close()
    this.#searches.clear()
  }

  async #searchIndexes(question: Question & { readonly limit: number }, where: RecallSearch["in"]): Promise<Matches> {
    const { journal } = this.#options
    const isHere = where === "conversation"
    const asked = { ...question, around: AROUND_MATCH, ...(isHere ? { source: journal.address.id } : {}) }
    const started = performance.now()
    let isLate = false
    const late = () => {
      isLate ||= performance.now() - started > MAX_WAIT_MS
      return isLate
    }
    const namespaces = isHere ? [journal.address] : await this.#searchableNamespaces()
    const ours = { ...asked, limit: this.#options.embed ? Math.max(asked.limit, CANDIDATES) : asked.limit }
    const answers = await Promise.all(
      namespaces.map(async (namespace) => {
        const search = this.#index(namespace)
        const { answer, of } = await search.search(ours, { isLate: late })
        return { of, answer: { ...answer, found: await this.#withNearest(answer.found, search, asked) } }
      }),
    )
    const all = answers.flatMap(({ answer }) => answer.found)
    const found = all.sort((a, b) => b.score - a.score).slice(0, question.limit)
    const isLocked = answers.some(({ of }) => of === "stand-in")
    const failed = this.#failure === undefined || this.#isFailureReported ? [] : [`${FAILED} ${this.#failure}.`]
    this.#isFailureReported ||= failed.length > 0
    const gaps = [...(isLocked ? [LOCKED] : []), ...(isLate ? [isHere ? LATE_HERE : LATE] : []), ...failed]
    return {
      found,
      more: answers.reduce((sum, { answer }) => sum + answer.more, 0) + all.length - found.length,
      ...(gaps.length === 0 ? {} : { gap: gaps.join(" ") }),
    }
  }

  /** Merges the matches with those of the embedding function. If the function fails, returns the matches alone. */
  async #withNearest(found: Matches["found"], search: JournalSearch, question: JournalQuestion) {
    const { embed } = this.#options
    if (!embed) return found
    try {
      return fuseByRank([found, await search.nearest(embed, question)])
    } catch (error) {
      if (this.#closed) throw error
      this.#failure ??= error instanceof Error ? error.message : String(error)
      return found
    }
  }

  /** The namespace of this conversation, then those of others that can be searched. */
  async #searchableNamespaces(): Promise<readonly JournalNamespace[]> {
    const { project, under } = this.#options.journal.address
    const own: JournalNamespace = under === undefined ? { project } : { project, under }
    const others = (await this.#options.namespaces()).map((name): JournalNamespace => ({ project: name }))
    return [...new Map([own, ...others].map((place) => [namespaceKey(place), place])).values()]
  }

  #index(namespace: JournalNamespace): JournalSearch {
    const { journal, store, isShared } = this.#options
    // the sub-agents of one conversation have a namespace of their own; conversations without an owner share one but must not see each
    // other
    const isWhole = isShared || this.#isSubAgent
    const key = namespaceKey(namespace)
    const search =
      this.#searches.get(key) ??
      (isWhole ? sharedJournalSearch(store, namespace) : ownJournalSearch(store, journal.address))
    this.#searches.set(key, search)
    return search.value
  }

  /** Runs work on the journal that a handle resolves to. Undefined if there is no such journal. */
  async #within<T>(
    handle: string,
    work: (where: { journal: Journal; prefix: string }) => Promise<T>,
  ): Promise<T | undefined> {
    const [, prefix = ""] = /^(.*?)\//.exec(handle) ?? []
    const opened = await this.#open(prefix)
    if (!opened) return undefined
    try {
      return await work({ journal: opened.journal, prefix })
    } finally {
      await opened.release()
    }
  }

  async #open(prefix: string): Promise<{ readonly journal: Journal; release(): Promise<void> } | undefined> {
    const { journal, store } = this.#options
    const { project, id } = journal.address
    if (prefix === "" || prefix === id) return { journal, release: async () => undefined }
    if (!isSafeId(prefix)) return undefined
    const others = this.#isAlone ? [] : await this.#searchableNamespaces()
    const addresses = [{ project, under: id }, ...others].map((place) => ({ ...place, id: prefix }))
    const isKept = await store.has(addresses)
    for (const address of addresses.filter((_, at) => isKept[at])) {
      try {
        const opened = await store.open(address, { access: "read" })
        return { journal: opened, release: () => opened.close() }
      } catch (error) {
        if (!(error instanceof ConversationNotFoundError)) throw error // deleted since
      }
    }
    const fullId = isShortId(prefix) ? await this.#newestWithPrefix(prefix, others) : undefined
    return fullId === undefined ? undefined : this.#open(fullId)
  }

  /** The id of the newest conversation with this prefix, from the first namespace that has one. */
  async #newestWithPrefix(prefix: string, namespaces: readonly JournalNamespace[]): Promise<string | undefined> {
    const listed = await Promise.all(
      namespaces.map(({ project, under }) =>
        this.#options.store.list(project, { isBare: true, ...(under === undefined ? {} : { under }) }),
      ),
    )
    return listed.flat().find(({ id }) => id.startsWith(`${prefix}-`))?.id
  }
}

function ownJournalSearch(store: Store, { id, ...namespace }: JournalAddress) {
  const value = journalSearchIn(store, namespace, id)
  return { value, close: () => value.close() }
}

const isShortId = (prefix: string) => /^[0-9a-f]{8}$/.test(prefix)
