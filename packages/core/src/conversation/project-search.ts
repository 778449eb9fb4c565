/**
 * The search that comes with each message: the memories of a project and what was said in its other conversations. It is loaded with the
 * first question that can find something, and never holds up a request for long.
 */
import type { Clock } from "../base/clock.ts"
import type { Store } from "../journal/store.ts"
import type { MemoryBank } from "../memory/bank.ts"
import type { Memory } from "../memory/memory.ts"
import type { Question } from "../recall/answer/ranking.ts"
import type { JournalSearch } from "../recall/journal-search.ts"
import type { MemoryRecall, Recalled, RecallQuestion } from "../recall/memory-recall.ts"

/** Of past conversations, in bytes: a request does not wait for more to be indexed, about 30 ms. The rest is found from a later message on. */
const MOST_NEW_BYTES = 48 * 1024
/** A message does not wait to see what was said elsewhere since. */
const MOST_AGE_MS = 2_000
/** While a project has no other conversation, the store is asked for one after this. What this process appends is heard at once. */
const ASK_AGAIN_MS = 60_000

/** The conversations of a project. */
export interface Past {
  readonly store: Store
  /** The project's places in the store. */
  readonly places: () => Promise<readonly string[]>
}

export interface ProjectSearch {
  readonly recall: (question: RecallQuestion) => Promise<readonly Recalled<Memory>[]>
  close(): void
}

interface SearchOptions {
  readonly bank: MemoryBank
  /** Absent: only memories are searched. */
  readonly past: Past | undefined
  readonly clock: Clock
  /** The file for the index of memories. Default: in memory. */
  readonly index?: string
}

interface OpenSearch {
  readonly recall: MemoryRecall<Memory>
  readonly journals: readonly { readonly value: JournalSearch; close(): void }[]
}

export function projectSearch({ bank, past, clock, index }: SearchOptions): ProjectSearch {
  const others = past && new OtherConversations(past, clock)
  let opened: Promise<OpenSearch> | undefined
  const open = async (): Promise<OpenSearch> => {
    const [{ MemoryRecall }, { sharedJournalSearch }] = await Promise.all([
      import("../recall/memory-recall.ts"), // they load SQLite
      import("../recall/journal-search.ts"),
    ])
    const places = (await past?.places()) ?? []
    const journals = places.map((project) => sharedJournalSearch(past!.store, { project }))
    const searched = together(journals.map(({ value }) => value))
    const kept = index === undefined ? {} : { index }
    return { journals, recall: new MemoryRecall<Memory>({ bank, journals: searched, ...kept }) }
  }
  return {
    async recall(question) {
      const isEmpty = !(await bank.all()).length && !(await others?.areThere(question.exclude?.conversations))
      if (isEmpty) return []
      opened ??= open().catch((error: unknown) => {
        opened = undefined // the store may answer the next time
        throw error
      })
      return (await opened).recall.recall(question)
    },
    close() {
      others?.close()
      void opened?.then(
        ({ recall, journals }) => {
          for (const one of [recall, ...journals]) one.close()
        },
        () => undefined,
      )
    },
  }
}

/** Several indexes as one: the best of all. */
const together = (journals: readonly JournalSearch[]) => ({
  async search(question: Question) {
    const except = question.exclude?.sources
    const which = { mostNew: MOST_NEW_BYTES, mostAge: MOST_AGE_MS, ...(except ? { except } : {}) }
    const answers = await Promise.all(journals.map(async (index) => (await index.search(question, which)).answer))
    const found = answers.filter(({ isFitting }) => isFitting).flatMap((answer) => answer.found)
    return { found: found.sort((a, b) => b.score - a.score).slice(0, question.limit), isFitting: found.length > 0 }
  },
})

/** Whether a project has conversations besides the asking one. Once it has, no one is asked again. */
class OtherConversations {
  readonly #past: Past
  readonly #clock: Clock
  readonly #known = new Set<string>()
  #stops: readonly (() => void)[] = []
  #askedAt = Number.NEGATIVE_INFINITY
  #areThere = false
  #isClosed = false

  constructor(past: Past, clock: Clock) {
    this.#past = past
    this.#clock = clock
  }

  /** `left`: those that do not count. */
  async areThere(left: ReadonlySet<string> = new Set()): Promise<boolean> {
    const hasOther = () => [...this.#known].some((id) => !left.has(id))
    if (this.#areThere || hasOther()) return this.#found()
    const now = this.#clock.now().getTime()
    if (Math.abs(now - this.#askedAt) < ASK_AGAIN_MS) return false
    await this.#ask()
    this.#askedAt = now
    return hasOther() && this.#found()
  }

  close(): void {
    this.#isClosed = true
    this.#stopListening()
  }

  #found(): true {
    this.#areThere = true
    this.#known.clear()
    this.#stopListening()
    return true
  }

  async #ask(): Promise<void> {
    const { store, places } = this.#past
    const names = await places()
    this.#stopListening()
    if (this.#isClosed || this.#areThere) return
    this.#stops = names.flatMap((project) => {
      const feed = store.feed({ project })
      return [feed.onAppended(({ conversation }) => this.#known.add(conversation)), () => feed.close()]
    })
    const listed = await Promise.all(names.map((project) => store.list(project, { isBare: true })))
    for (const { id } of listed.flat()) this.#known.add(id)
  }

  #stopListening(): void {
    for (const stop of this.#stops) stop()
    this.#stops = []
  }
}
