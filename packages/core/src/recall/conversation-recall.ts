/**
 * The past of one conversation, for the Recall tool: by handle, by range, by search. Handles lead to this journal, to the ones of agents
 * that worked for it, and to other conversations of the project with the same owner. An agent that works for another one sees only its own,
 * and so does a conversation without an owner.
 */
import { basename, dirname } from "node:path"
import { ConversationNotFoundError, InvalidIdError } from "../base/errors.ts"
import { isMessage } from "../journal/entries.ts"
import type { Journal, JournalAddress, Store } from "../journal/store.ts"
import { type Block, isMedia, isToolResult, resultBlocks } from "../messages/blocks.ts"
import { handleOf } from "../messages/handles.ts"
import { type CompactMetadata, contentOf, isBoundary, type Message } from "../messages/messages.ts"
import type {
  RecalledPlace,
  RecalledText,
  RecallFound,
  RecallMatches,
  RecallRange,
  RecallSearch,
  RecallSource,
} from "../tools/session/recall-source.ts"
import { BlockReader, type BlockText, plainText } from "./block-texts.ts"
import { type JournalAnswer, JournalSearch } from "./journal-search.ts"
import { messagesNamed, type Named } from "./named.ts"
import type { Passage } from "./passage.ts"
import type { Question } from "./ranking.ts"
import { type ScannedJournal, scanJournals } from "./scan-journals.ts"

/** Entries read on both sides of a block. Most are decisions, which no one wants to see. */
const AROUND = 12
/** Passages of the index that are read on both sides of a match, to show all of its block: about 12,000 tokens. */
const AROUND_MATCH = 40
/** A search does not wait longer for other conversations to be indexed. */
const PATIENCE_MS = 10_000

const LATE = "Some conversations are not indexed yet. Search again to include them."
const LATE_HERE = "The newest part of this conversation is not indexed yet. Search again to include it."
const ONLY_OWN = "Only your own conversation was searched. Ask your lead for more."
const ONLY_THIS = "Only this conversation was searched: it has no owner, so it shares nothing with others."
const LOCKED = "Another process keeps the search index locked, so the journals were read instead."

export interface ConversationRecallOptions {
  readonly store: Store
  readonly journal: Journal
  /** Whether it may look into other conversations in its place of the store: they have the same owner. */
  readonly isShared: boolean
  /** Directories with journals of the same project and owner, if the store keeps files. */
  readonly directories: () => Promise<readonly string[]>
  readonly mask: (text: string) => string
  readonly estimate: (text: string) => number
  /** What "last week" in a question is counted from. Default: the system's clock. */
  readonly now?: () => Date
}

type Matches = Pick<JournalAnswer, "found" | "more"> & Pick<RecallMatches, "gap">

/** A text and where it is. */
interface Placed {
  readonly prefix: string
  readonly text: BlockText
}

export class ConversationRecall implements RecallSource {
  readonly #options: ConversationRecallOptions
  readonly #searches = new Map<string, JournalSearch>()
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
  find(handle: string): Promise<readonly Named[]> {
    return this.#within(handle, ({ journal, rest }) => messagesNamed(journal, rest)).then((found) => found ?? [])
  }

  async named(handle: string): Promise<readonly RecalledPlace[]> {
    const places = await this.#within(handle, async ({ journal, prefix, rest }) => {
      const found = await messagesNamed(journal, rest)
      return Promise.all(found.map((one) => this.#place(one, { journal, prefix })))
    })
    return places ?? []
  }

  async range({ from, to, ...filter }: RecallRange): Promise<AsyncIterable<RecalledText> | undefined> {
    const ends = await this.#within(from, async ({ journal, prefix, rest }) => {
      const [first] = await messagesNamed(journal, rest)
      const last = to === undefined ? undefined : (await messagesNamed(journal, withoutPrefix(to), "to"))[0]
      if (!first || (to !== undefined && !last)) return undefined
      return { prefix, first: first.message.uuid, ...(last ? { last: last.message.uuid } : {}) }
    })
    if (!ends) return undefined
    const { prefix, ...stretch } = ends
    const open = () => this.#open(prefix)
    return (async function* () {
      const opened = await open()
      if (!opened) return
      try {
        const reader = new BlockReader()
        for await (const entry of opened.journal.stretch(stretch))
          for (const text of reader.take(entry))
            if (text.isSearchable && isWanted(text, filter)) yield shown({ prefix, text })
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
      found: found.map((one) => this.#asFound(one)),
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
    const { mask, journal, isShared } = this.#options
    // the agents of one conversation have a directory of their own; conversations without an owner are beside each other
    const only = isShared || this.#isSubAgent ? {} : { only: journal.address.id }
    const search = this.#searches.get(directory) ?? new JournalSearch({ directory, mask, ...only })
    this.#searches.set(directory, search)
    return search
  }

  /** A match, with as much of its block as the index has beside it. */
  #asFound(found: JournalAnswer["found"][number]): RecallFound {
    const { id } = this.#options.journal.address
    const prefix = found.source === id ? "" : shortened(found.source)
    const { around, at, ...own } = found
    const { text, start } = around?.whole ?? own
    const shownAs = (passage: Passage) => ({
      handle: handleAt(prefix, passage.uuid, placeOf(passage)),
      kind: passage.kind,
      ...(passage.label === undefined ? {} : { label: passage.label }),
      time: passage.time,
    })
    const from = own.start - start
    return {
      ...shownAs(own),
      ...{ text, at: from + at, matched: { from, to: from + own.text.length } },
      ...(text.length < own.length ? { start, length: own.length } : {}),
      ...(around?.before ? { before: { ...shownAs(around.before), text: around.before.text } } : {}),
      ...(around?.after ? { after: { ...shownAs(around.after), text: around.after.text } } : {}),
    }
  }

  async #place({ message, block, place }: Named, { journal, prefix }: { journal: Journal; prefix: string }) {
    const texts = await textsAround(journal, message.uuid)
    const own = texts.filter(({ uuid }) => uuid === message.uuid)
    const first = own[0] ? texts.indexOf(own[0]) : -1
    const all = (some: readonly BlockText[]) => some.map((text) => shown({ prefix, text }))
    return {
      texts: block
        ? own
            .filter(({ blocks }) => blocks[0] === place[0])
            .map((text) => shown({ prefix, text: within(text, place, block) }))
        : own.length > 0
          ? all(own)
          : all(boundaryText(message)),
      media: (block ? mediaOf(block) : mediaIn(message)).filter(isCarried),
      before: all(first > 0 ? texts.slice(first - 1, first) : []),
      after: all(first < 0 ? [] : texts.slice(first + own.length, first + own.length + 1)),
    }
  }

  /** Does work in the journal that a handle leads to. Nothing where there is no such journal. */
  async #within<T>(
    handle: string,
    work: (where: { journal: Journal; prefix: string; rest: string }) => Promise<T>,
  ): Promise<T | undefined> {
    const [, prefix = ""] = /^(.*?)\//.exec(handle) ?? []
    const opened = await this.#open(prefix)
    if (!opened) return undefined
    try {
      return await work({ journal: opened.journal, prefix, rest: withoutPrefix(handle) })
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

const placeOf = ({ blocks }: Passage) => (blocks === "" ? [] : blocks.split(".").map(Number))

/** Eight digits name a conversation well enough. */
const shortened = (id: string) => (/^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(id) ? id.slice(0, 8) : id)

const isShortened = (prefix: string) => /^[0-9a-f]{8}$/.test(prefix)

const withoutPrefix = (handle: string) => handle.slice(handle.indexOf("/") + 1)

const handleAt = (prefix: string, uuid: string, blocks: readonly number[]): string =>
  prefix === "" ? handleOf(uuid, ...blocks) : `${prefix}/${handleOf(uuid, ...blocks)}`

const shown = ({ prefix, text: { uuid, blocks, kind, label, time, text } }: Placed): RecalledText => ({
  handle: handleAt(prefix, uuid, blocks),
  kind,
  ...(label === undefined ? {} : { label }),
  time,
  text,
})

/** The texts of a message and of those around it, in order. */
async function textsAround(journal: Journal, uuid: string, around = AROUND): Promise<readonly BlockText[]> {
  const reader = new BlockReader()
  const texts: BlockText[] = []
  for await (const entry of journal.stretch({ first: uuid, last: uuid, around })) texts.push(...reader.take(entry))
  return texts.filter((text) => text.isSearchable || text.uuid === uuid)
}

/** The part of a block that a handle names. */
const within = (text: BlockText, place: readonly number[], block: Block): BlockText =>
  place.length < 2 ? text : { ...text, blocks: place, text: plainText(block) }

function isWanted({ kind, time }: BlockText, filter: Omit<RecallRange, "from" | "to">): boolean {
  if (filter.kind !== undefined && kind !== filter.kind) return false
  const at = Date.parse(time)
  return !(filter.since && at < filter.since.getTime()) && !(filter.until && at >= filter.until.getTime())
}

function boundaryText(message: Message): readonly BlockText[] {
  if (!isMessage(message) || !isBoundary(message)) return []
  const { lastUuid, messagesSummarized } = message.compactMetadata ?? ({} as Partial<CompactMetadata>)
  const count = messagesSummarized === undefined ? "Messages were" : `${messagesSummarized} messages were`
  const last = typeof lastUuid === "string" ? ` The last of them is ${handleOf(lastUuid)}.` : ""
  const text = `A compaction. ${count} replaced by a summary.${last}`
  const { uuid, timestamp: time } = message
  return [{ uuid, time, blocks: [], kind: "note", label: "boundary", text, isSearchable: false, isSaid: false }]
}

const mediaOf = (block: Block): readonly Block[] =>
  isMedia(block) ? [block] : isToolResult(block) ? resultBlocks(block).filter(isMedia) : []

const mediaIn = (message: Message): readonly Block[] =>
  message.type === "user" ? contentOf(message).filter(isMedia) : []

/** What a result can carry: bytes, not references. */
const isCarried = (block: Block) => isMedia(block) && block.source.type === "base64"
