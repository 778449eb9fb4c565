/**
 * The past of a project, for the tool `recall`: transcripts of other programs as they are on disk, and Strata's own journals. A handle leads
 * to the asking conversation first, then to the others, the newest first.
 */
import { constants } from "node:fs"
import { open } from "node:fs/promises"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { isSafeId, localUser, Queue, realPath } from "@strata/core/base"
import { parseHandle } from "@strata/core/messages"
import { whichProject } from "@strata/core/projects"
import {
  foundText,
  type JournalAnswer,
  type JournalSearch,
  journalSearchIn,
  placesNamed,
  type ReadableConversation,
  type RecallMatches,
  type RecallSearch,
  type RecallSource,
  shortened,
  stretchNamed,
  textsIn,
} from "@strata/core/recall"
import {
  type Journal,
  journalDirectoryOf,
  type ProjectInStore,
  placeOf,
  placesOf,
  type Store,
  storeFrom,
  strataDirectory,
} from "@strata/core/store"
import { createEstimator, findModel } from "@strata/core/tokens"
import type { TranscriptProgram } from "@strata/transcripts/import"
import type { Environment } from "../clients.ts"
import { ProjectTranscripts, type Transcript } from "../project-transcripts.ts"
import { TranscriptReader } from "./read-transcripts.ts"
import { TranscriptIndex } from "./transcript-index.ts"

/** Its name ends like those of other indexes of journals, so that erasing a memory removes it too. */
const INDEX_NAME = "transcripts.search.sqlite"
const PATIENCE_MS = 5_000 // a search does not wait longer for transcripts to be indexed
const SLICE_MS = 200 // of indexing in the background, before a question may come first
/** Passages of the index that are read on both sides of a match, to show all of its block: about 12,000 tokens. */
const AROUND_MATCH = 40
const SHORTEST_PREFIX = 8 // characters of a conversation's id
const MAX_JOURNALS = 50 // that are looked into for a handle without the name of its conversation
const MAX_OPEN = 8 // conversations that one program may have open in a project
const END_BYTES = 256 * 1024 // of a transcript: what it ends with
const MODEL = "claude-opus-4-6" // whose tokens are counted

const LATE = "Some conversations are not indexed yet. Search again to include them."
const NOT_FOUND = "The transcript of this conversation was not found, so the whole project was searched."

export interface PastOptions {
  readonly cwd: string
  readonly env: Environment
  /** Where Strata's own conversations are kept. Default: files in its directory. */
  readonly store?: Store
  /** Milliseconds that a search waits for transcripts to be indexed. */
  readonly patience?: number
}

/** Who asks. */
export interface Asker {
  /** The name by which an MCP client introduces itself. */
  readonly client: string
  /** The id of the call, as its transcript has it. */
  readonly call?: string
}

const CLIENTS: readonly (readonly [RegExp, TranscriptProgram])[] = [
  [/claude[-_ ]?code/i, "claude-code"],
  [/codex/i, "codex"],
  [/opencode/i, "opencode"],
  [/gemini/i, "gemini"],
  [/copilot/i, "copilot"],
  [/^pi\b/i, "pi"],
]

interface Place {
  readonly store: Store
  /** The project's places in the store. */
  readonly projects: readonly string[]
  readonly index: TranscriptIndex
}

export class ProjectPast {
  readonly #options: PastOptions
  readonly #transcripts: ProjectTranscripts
  readonly #reader = new TranscriptReader()
  readonly #journals = new Map<string, JournalSearch>()
  readonly #estimator = createEstimator(findModel(MODEL).facts.family)
  #place: Promise<Place> | undefined
  /** One update of the index after another. */
  readonly #updates = new Queue()
  #isIndexing = false
  #isClosed = false

  constructor(options: PastOptions) {
    this.#options = options
    this.#transcripts = new ProjectTranscripts(options)
  }

  /** The past as an agent sees it. */
  of(asker: Asker): RecallSource {
    return {
      isOpen: () => !this.#isClosed,
      estimate: (text) => this.#estimator.text(text),
      search: (search) => this.#search(search, asker),
      named: async (handle) => {
        for await (const conversation of this.#having(handle, asker)) {
          const places = await placesNamed(conversation, handle)
          if (places.length > 0) return places
        }
        return []
      },
      range: async ({ from, to, ...filter }) => {
        const having = this.#having(from, asker)
        for (let next = await having.next(); !next.done; next = await having.next()) {
          const stretch = await stretchNamed(next.value.journal, to === undefined ? { from } : { from, to })
          // the conversation stays open until its texts were read
          if (stretch) return closing(textsIn(next.value, { ...stretch, filter }), () => having.return(undefined))
        }
        return undefined
      },
    }
  }

  /** Newest first. */
  transcripts(): Promise<readonly Transcript[]> {
    return this.#transcripts.list()
  }

  /** The conversations that Strata itself keeps, newest first. */
  async kept(options: { readonly isBare?: boolean } = {}) {
    const { store, projects } = await this.#placed()
    const all = await Promise.all(
      projects.map(async (project) => (await store.list(project, options)).map((one) => ({ ...one, project }))),
    )
    return all.flat().sort((a, b) => (a.touched < b.touched ? 1 : -1))
  }

  close(): void {
    this.#isClosed = true
    for (const search of this.#journals.values()) search.close()
    // an update that is under way ends with its batch
    void this.#updates.run(async () => (await this.#place)?.index.close())
  }

  /** The conversation that asks: the one with this call at its end, the one that its program names, or the one that it wrote last. */
  async #current(transcripts: readonly Transcript[], { client, call }: Asker): Promise<Transcript | undefined> {
    const program = CLIENTS.find(([name]) => name.test(client))?.[1]
    const own = transcripts.filter((transcript) => transcript.program === program)
    if (call !== undefined)
      for (const transcript of own.slice(0, MAX_OPEN)) if (await endsWith(transcript, call)) return transcript
    const session = program === "claude-code" ? this.#options.env.CLAUDE_CODE_SESSION_ID : undefined
    return session ? own.find(({ id }) => id === session) : own[0]
  }

  async #search({ in: where, ...asked }: RecallSearch, asker: Asker): Promise<RecallMatches> {
    const { index } = await this.#placed()
    const transcripts = await this.transcripts()
    const current = await this.#current(transcripts, asker)
    const isHere = where === "conversation" && current !== undefined
    const end = performance.now() + (this.#options.patience ?? PATIENCE_MS)
    const isLate = () => performance.now() > end
    const wanted = isHere ? [current] : transcripts
    const isThrough = await this.#updates.run(() =>
      index.update(wanted, { isLate, ...(isHere ? {} : { all: transcripts }) }),
    )
    if (!isThrough) this.#indexLater()
    const question = { ...asked, now: new Date(), around: AROUND_MATCH }
    const answers = [
      index.search(isHere ? { ...question, source: current.path } : question),
      ...(isHere ? [] : await this.#inJournals(question, isLate)),
    ]
    const ids = new Map(transcripts.map(({ path, id }) => [path, id]))
    const prefixOf = (source: string) => (source === current?.path ? "" : shortened(ids.get(source) ?? source))
    const all = answers.flatMap(({ found }) => found).sort((a, b) => b.score - a.score)
    const found = all.slice(0, asked.limit)
    const gaps = [...(isThrough ? [] : [LATE]), ...(where === "conversation" && !current ? [NOT_FOUND] : [])]
    return {
      found: found.map((one) => foundText(one, prefixOf(one.source))),
      more: answers.reduce((sum, { more }) => sum + more, 0) + all.length - found.length,
      ...(gaps.length === 0 ? {} : { gap: gaps.join(" ") }),
    }
  }

  async #inJournals(
    question: Parameters<JournalSearch["search"]>[0],
    isLate: () => boolean,
  ): Promise<readonly JournalAnswer[]> {
    const { projects } = await this.#placed()
    const searches = await Promise.all(projects.map((project) => this.#journalsOf(project)))
    const asked = searches.map(async (search) => (search ? [(await search.search(question, { isLate })).answer] : []))
    return (await Promise.all(asked)).flat()
  }

  /** Nothing as long as there are no journals: a search would make an index. */
  async #journalsOf(project: string): Promise<JournalSearch | undefined> {
    const { store } = await this.#placed()
    const known = () => this.#journals.get(project)
    if (!known() && (await store.list(project, { isBare: true })).length === 0) return undefined
    const search = known() ?? journalSearchIn(store, { project })
    this.#journals.set(project, search)
    return search
  }

  /** The conversations that may have a handle, the likeliest first. */
  async *#having(handle: string, asker: Asker): AsyncGenerator<ReadableConversation> {
    const { agent: named, message = "" } = parseHandle(handle) ?? {}
    const { index } = await this.#placed()
    const transcripts = await this.transcripts()
    const current = await this.#current(transcripts, asker)
    const indexed = named === undefined ? index.pathsWith(message) : new Set<string>()
    const likely = transcripts.filter((one) =>
      named === undefined ? one === current || indexed.has(one.path) || !index.has(one) : isNamed(one.id, named),
    )
    const isFirst = (one: Transcript) => Number(one === current) * 2 + Number(indexed.has(one.path))
    for (const transcript of likely.toSorted((a, b) => isFirst(b) - isFirst(a))) {
      const { journal } = await this.#reader.read(transcript)
      yield { journal, prefix: named ?? (transcript === current ? "" : shortened(transcript.id)) }
    }
    yield* this.#journalsNamed(named)
  }

  async *#journalsNamed(named: string | undefined): AsyncGenerator<ReadableConversation> {
    const { store } = await this.#placed()
    const kept = await this.kept({ isBare: true })
    const fitting = kept.filter(({ id }) => named === undefined || isNamed(id, named))
    for (const { project, id } of fitting.slice(0, MAX_JOURNALS)) {
      const journal: Journal | undefined = await store.open({ project, id }, { access: "read" }).catch(() => undefined)
      if (!journal) continue
      try {
        yield { journal, prefix: named ?? shortened(id) }
      } finally {
        await journal.close()
      }
    }
  }

  #indexLater(): void {
    if (this.#isIndexing) return
    this.#isIndexing = true
    const slices = async () => {
      for (let isThrough = false; !isThrough && !this.#isClosed; ) {
        const { index } = await this.#placed()
        const transcripts = await this.transcripts()
        const end = performance.now() + SLICE_MS
        isThrough = await this.#updates.run(() =>
          index.update(transcripts, { isLate: () => this.#isClosed || performance.now() > end }),
        )
        await setImmediate()
      }
    }
    // a search that waits for it reports what is wrong
    void slices()
      .catch(() => undefined)
      .finally(() => {
        this.#isIndexing = false
      })
  }

  #placed(): Promise<Place> {
    this.#place ??= this.#placeNow()
    return this.#place
  }

  async #placeNow(): Promise<Place> {
    const { env, store = storeFrom({ env }) } = this.#options
    const cwd = realPath(this.#options.cwd) ?? this.#options.cwd
    const project = await whichProject({ cwd, env, root: strataDirectory(env), store })
    const given: ProjectInStore = { store, project, owner: localUser }
    const directory = journalDirectoryOf(store, placeOf(given))
    const path = directory === undefined ? {} : { path: join(directory, INDEX_NAME) }
    return { store, projects: await placesOf(given), index: new TranscriptIndex({ ...path, reader: this.#reader }) }
  }
}

async function endsWith({ path }: Transcript, text: string): Promise<boolean> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined)
  if (!file) return false
  try {
    const { size } = await file.stat()
    const { buffer, bytesRead } = await file.read({
      ...{ buffer: Buffer.alloc(Math.min(size, END_BYTES)), position: Math.max(0, size - END_BYTES) },
    })
    return buffer.subarray(0, bytesRead).includes(text)
  } finally {
    await file.close()
  }
}

const isNamed = (id: string, named: string): boolean =>
  id === named || (named.length >= SHORTEST_PREFIX && isSafeId(named) && id.startsWith(named))

async function* closing<T>(values: AsyncIterable<T>, close: () => Promise<unknown>): AsyncGenerator<T> {
  try {
    yield* values
  } finally {
    await close()
  }
}
