/**
 * The past of one conversation, for the Recall tool: by handle, by range, by search. Handles lead to this journal, to the ones of agents
 * that worked for it, and to other conversations of the project with the same owner. An agent that works for another one sees only its own,
 * and so does a conversation without an owner.
 */
import { basename, dirname } from "node:path"
import { ConversationNotFoundError, InvalidIdError } from "../base/errors.ts"
import type { Journal, JournalAddress, Store } from "../journal/store.ts"
import type {
  RecalledPlace,
  RecalledText,
  RecallMatches,
  RecallRange,
  RecallSearch,
  RecallSource,
} from "../tools/session/recall-source.ts"
import type { Question } from "./answer/ranking.ts"
import { type JournalAnswer, JournalSearch, sharedJournalSearch } from "./journal-search.ts"
import {
  foundText,
  messagesNamed,
  type Named,
  placesNamed,
  shortened,
  stretchNamed,
  textsIn,
  withoutPrefix,
} from "./recalled-places.ts"
import { type ScannedJournal, scanJournals } from "./scan-journals.ts"

/** Passages of the index that are read on both sides of a match, to show all of its block: about 12,000 tokens. */
const AROUND_MATCH = 40
/** A search does not wait longer for other conversations to be indexed. */
const PATIENCE_MS = 10_000

const LATE = "Some conversations are not indexed yet. Search again to include them."
const LATE_HERE = "The newest part of this conversation is not indexed yet. Search again to include it."
const ONLY_OWN = "Only your own conversation was searched. Ask your lead for more."
const ONLY_THIS = "Only this conversation was searched: it has no owner, so it shares nothing with others."
const LOCKED = "Another process keeps the search index locked, so the journals were read instead."

interface ConversationRecallOptions {
  readonly store: Store
  readonly journal: Journal
  /** Whether it may look into other conversations in its place of the store: they have the same owner. */
  readonly isShared: boolean
  /** Directories with journals of the same project and owner, if the store keeps files. */
  readonly directories: () => Promise<readonly string[]>
  readonly estimate: (text: string) => number
  /** What "last week" in a question is counted from. Default: the system's clock. */
  readonly now?: () => Date
}

type Matches = Pick<JournalAnswer, "found" | "more"> & Pick<RecallMatches, "gap">

export class ConversationRecall implements RecallSource {
  readonly #options: ConversationRecallOptions
  readonly #searches = new Map<string, { readonly value: JournalSearch; close(): void }>()
  #closed = false

  constructor(options: ConversationRecallOptions) {
    this.#options = options
  }

  isOpen(): boolean {
    return !this.#closed
  }

  estimate(text: string): number {
    return this.#options.estimate(text)
  }

  /** What a handle names, newest first. */
  async find(handle: string): Promise<readonly Named[]> {
    return (await this.#within(handle, ({ journal }) => messagesNamed(journal, withoutPrefix(handle)))) ?? []
  }

  async named(handle: string): Promise<readonly RecalledPlace[]> {
    return (await this.#within(handle, (where) => placesNamed(where, handle))) ?? []
  }

  async range({ from, to, ...filter }: RecallRange): Promise<AsyncIterable<RecalledText> | undefined> {
    const ends = to === undefined ? { from } : { from, to }
    const found = await this.#within(from, async ({ journal, prefix }) => {
      const stretch = await stretchNamed(journal, ends)
      return stretch && { prefix, stretch }
    })
    if (!found) return undefined
    const { prefix, stretch } = found
    const open = () => this.#open(prefix)
    return (async function* () {
      const opened = await open()
      if (!opened) return
      try {
        yield* textsIn({ journal: opened.journal, prefix }, { ...stretch, filter })
      } finally {
        await opened.release()
      }
    })()
  }

  async search(search: RecallSearch): Promise<RecallMatches> {
    const { journal } = this.#options
    const { in: wanted, ...asked } = search
    const question = { ...asked, now: this.#options.now?.() ?? new Date() }
    const where = this.#isAlone ? "conversation" : wanted
    const isIndexed = journal.file !== undefined && process.getBuiltinModule("node:sqlite") !== undefined
    const { found, more, gap } = isIndexed
      ? await this.#searchIndexes(question, where)
      : await this.#searchByReading(question, where)
    const narrowed = where === wanted ? undefined : this.#isSubAgent ? ONLY_OWN : ONLY_THIS
    const gaps = [gap, narrowed].filter((each) => each !== undefined)
    return {
      found: found.map((one) => foundText(one, one.source === journal.address.id ? "" : shortened(one.source))),
      more,
      ...(gaps.length === 0 ? {} : { gap: gaps.join(" ") }),
    }
  }

  get #isSubAgent(): boolean {
    return this.#options.journal.address.under !== undefined
  }

  /** No other conversation may be looked into. */
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
    const own = dirname(journal.file!)
    const isHere = where === "conversation"
    const directories = isHere ? [own] : new Set([own, ...(await this.#options.directories())])
    const asked = { ...question, around: AROUND_MATCH, ...(isHere ? { source: journal.address.id } : {}) }
    const started = performance.now()
    let isLate = false
    const late = () => {
      isLate ||= performance.now() - started > PATIENCE_MS
      return isLate
    }
    const all: JournalAnswer["found"][number][] = []
    let more = 0
    let isLocked = false
    for (const directory of directories) {
      const { answer, of } = await this.#index(directory).search(asked, { isLate: late })
      isLocked ||= of === "stand-in"
      all.push(...answer.found)
      more += answer.more
    }
    const found = all.sort((a, b) => b.score - a.score).slice(0, question.limit)
    const gaps = [...(isLocked ? [LOCKED] : []), ...(isLate ? [isHere ? LATE_HERE : LATE] : [])]
    return {
      found,
      more: more + all.length - found.length,
      ...(gaps.length === 0 ? {} : { gap: gaps.join(" ") }),
    }
  }

  async #searchByReading(question: Question & { readonly limit: number }, where: RecallSearch["in"]): Promise<Matches> {
    const { found, more, isCut } = await scanJournals(this.#journals(where), question)
    const gap = "Only the newest part was searched: this store has no index."
    return { found, more, ...(isCut ? { gap } : {}) }
  }

  async *#journals(where: RecallSearch["in"]): AsyncGenerator<ScannedJournal> {
    const { journal, store } = this.#options
    const { id, ...place } = journal.address
    yield { source: id, journal }
    if (where === "conversation") return
    const { project, under } = place
    for (const listed of await store.list(project, under === undefined ? {} : { under })) {
      if (listed.id === id) continue
      const other = await store.open({ ...place, id: listed.id }, { access: "read" }).catch(() => undefined)
      if (!other) continue
      try {
        yield { source: listed.id, journal: other }
      } finally {
        await other.close()
      }
    }
  }

  #index(directory: string): JournalSearch {
    const { journal, isShared } = this.#options
    // the agents of one conversation have a directory of their own; conversations without an owner are beside each other
    const isWhole = isShared || this.#isSubAgent
    const search =
      this.#searches.get(directory) ??
      (isWhole ? sharedJournalSearch(directory) : ownJournalSearch(directory, journal.address.id))
    this.#searches.set(directory, search)
    return search.value
  }

  /** Does work in the journal that a handle leads to. Nothing where there is no such journal. */
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
    const directories = this.#isAlone ? [] : await this.#options.directories()
    const others = directories.map((directory) => ({ project: basename(directory), id: prefix }))
    const beside = this.#isAlone ? [] : [{ ...journal.address, id: prefix }, ...others]
    for (const address of [{ project, under: id, id: prefix }, ...beside]) {
      try {
        const opened = await store.open(address, { access: "read" })
        return { journal: opened, release: () => opened.close() }
      } catch (error) {
        if (error instanceof InvalidIdError) return undefined
        if (!(error instanceof ConversationNotFoundError)) throw error
      }
    }
    const whole = isShortened(prefix) ? await this.#beginningWith(prefix, beside) : undefined
    return whole === undefined ? undefined : this.#open(whole)
  }

  /** The id of the newest conversation that begins like this. */
  async #beginningWith(prefix: string, addresses: readonly JournalAddress[]): Promise<string | undefined> {
    const projects = new Map(addresses.map(({ project, under }) => [`${project} ${under ?? ""}`, { project, under }]))
    for (const { project, under } of projects.values()) {
      const listed = await this.#options.store.list(project, under === undefined ? {} : { under })
      const found = listed.find(({ id }) => id.startsWith(`${prefix}-`))
      if (found) return found.id
    }
    return undefined
  }
}

function ownJournalSearch(directory: string, only: string) {
  const value = new JournalSearch({ directory, only })
  return { value, close: () => value.close() }
}

const isShortened = (prefix: string) => /^[0-9a-f]{8}$/.test(prefix)
