/**
 * Recall over all sessions of a project, for the tool `recall`: transcripts of other programs on disk, and Strata's own journals. A handle
 * is looked up in the calling conversation first, then in the others, newest first.
 */
import { constants } from "node:fs"
import { open } from "node:fs/promises"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { isSafeId, localUser, realPath, SerialQueue } from "@strata/core/base"
import { parseHandle } from "@strata/core/messages"
import { resolveProject } from "@strata/core/projects"
import {
  type JournalSearch,
  type JournalSearchResult,
  journalSearchIn,
  quoteMatch,
  type ReadableConversation,
  type RecallMatches,
  type RecallSearch,
  type RecallSource,
  resolveHandle,
  resolveRange,
  shortConversationId,
  textsIn,
} from "@strata/core/recall"
import {
  type Journal,
  journalDirectoryIn,
  listProjectNamespaces,
  type ProjectInStore,
  projectNamespace,
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

/** The name ends like those of journal indexes, so that erasing a memory removes it too. */
const INDEX_NAME = "transcripts.search.sqlite"
const INDEX_TIMEOUT_MS = 5_000 // maximum time that a search waits for transcripts to be indexed
const SLICE_MS = 200 // length of a background indexing step, between which queries can run
/** Number of index passages read on both sides of a match, to show its complete block: about 12,000 tokens. */
const AROUND_MATCH = 40
const SHORTEST_PREFIX = 8 // characters of a conversation id
const MAX_JOURNALS = 50 // maximum number of journals searched for a handle without a conversation id
const MAX_OPEN = 8 // maximum number of conversations that a program has open in a project
const END_BYTES = 256 * 1024 // number of bytes read at the end of a transcript
const MODEL = "claude-opus-4-6" // the model whose tokens are counted

const LATE = "Some conversations are not indexed yet. Search again to include them."
const NOT_FOUND = "The transcript of this conversation was not found, so the whole project was searched."

export interface ProjectRecallOptions {
  readonly cwd: string
  readonly env: Environment
  /** The store of Strata's own conversations. Default: files in its directory. */
  readonly store?: Store
  /** How long a search waits for transcripts to be indexed. */
  readonly indexTimeoutMs?: number
}

/** The origin of a request. */
export interface RecallClient {
  /** The name by which an MCP client introduces itself. */
  readonly client: string
  /** The id of the call, as recorded in its transcript. */
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

interface OpenProject {
  readonly store: Store
  /** The project's namespaces in the store. */
  readonly projects: readonly string[]
  readonly index: TranscriptIndex
}

export class ProjectRecall {
  readonly #options: ProjectRecallOptions
  readonly #transcripts: ProjectTranscripts
  readonly #reader = new TranscriptReader()
  readonly #journals = new Map<string, JournalSearch>()
  readonly #estimator = createEstimator(findModel(MODEL).facts.family)
  #project: Promise<OpenProject> | undefined
  /** Runs updates of the index serially. */
  readonly #updates = new SerialQueue()
  #isIndexing = false
  #isClosed = false

  constructor(options: ProjectRecallOptions) {
    this.#options = options
    this.#transcripts = new ProjectTranscripts(options)
  }

  /** Returns recall for one client. */
  sourceFor(asker: RecallClient): RecallSource {
    return {
      isOpen: () => !this.#isClosed,
      estimate: (text) => this.#estimator.text(text),
      search: (search) => this.#search(search, asker),
      findByHandle: async (handle) => {
        for await (const conversation of this.#having(handle, asker)) {
          const matches = await resolveHandle(conversation, handle)
          if (matches.length > 0) return matches
        }
        return []
      },
      range: async ({ from, to, ...filter }) => {
        const having = this.#having(from, asker)
        for (let next = await having.next(); !next.done; next = await having.next()) {
          const entryRange = await resolveRange(next.value.journal, to === undefined ? { from } : { from, to })
          // the conversation stays open until its texts have been read
          if (entryRange)
            return closeAfter(textsIn(next.value, { ...entryRange, filter }), () => having.return(undefined))
        }
        return undefined
      },
    }
  }

  /** Transcripts, newest first. */
  transcripts(): Promise<readonly Transcript[]> {
    return this.#transcripts.list()
  }

  /** Strata's own conversations, newest first. */
  async storedConversations(options: { readonly isBare?: boolean } = {}) {
    const { store, projects } = await this.#openProject()
    const all = await Promise.all(
      projects.map(async (project) => (await store.list(project, options)).map((one) => ({ ...one, project }))),
    )
    return all.flat().sort((a, b) => (a.touched < b.touched ? 1 : -1))
  }

  close(): void {
    this.#isClosed = true
    for (const search of this.#journals.values()) search.close()
    // a running update ends with its batch
    void this.#updates.run(async () => (await this.#project)?.index.close())
  }

  /** The calling conversation: the one that ends with this call, the one that its program identifies, or the one that it wrote last. */
  async #current(transcripts: readonly Transcript[], { client, call }: RecallClient): Promise<Transcript | undefined> {
    const program = CLIENTS.find(([name]) => name.test(client))?.[1]
    const own = transcripts.filter((transcript) => transcript.program === program)
    if (call !== undefined)
      for (const transcript of own.slice(0, MAX_OPEN)) if (await hasTextAtEnd(transcript, call)) return transcript
    const session = program === "claude-code" ? this.#options.env.CLAUDE_CODE_SESSION_ID : undefined
    return session ? own.find(({ id }) => id === session) : own[0]
  }

  async #search({ in: where, ...asked }: RecallSearch, asker: RecallClient): Promise<RecallMatches> {
    const { index } = await this.#openProject()
    const transcripts = await this.transcripts()
    const current = await this.#current(transcripts, asker)
    const isHere = where === "conversation" && current !== undefined
    const end = performance.now() + (this.#options.indexTimeoutMs ?? INDEX_TIMEOUT_MS)
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
    const prefixOf = (source: string) =>
      source === current?.path ? "" : shortConversationId(ids.get(source) ?? source)
    const all = answers.flatMap(({ found }) => found).sort((a, b) => b.score - a.score)
    const found = all.slice(0, asked.limit)
    const gaps = [...(isThrough ? [] : [LATE]), ...(where === "conversation" && !current ? [NOT_FOUND] : [])]
    return {
      found: found.map((one) => quoteMatch(one, prefixOf(one.source))),
      more: answers.reduce((sum, { more }) => sum + more, 0) + all.length - found.length,
      ...(gaps.length === 0 ? {} : { gap: gaps.join(" ") }),
    }
  }

  async #inJournals(
    question: Parameters<JournalSearch["search"]>[0],
    isLate: () => boolean,
  ): Promise<readonly JournalSearchResult[]> {
    const { projects } = await this.#openProject()
    const searches = await Promise.all(projects.map((project) => this.#journalsOf(project)))
    const asked = searches.map(async (search) => (search ? [(await search.search(question, { isLate })).answer] : []))
    return (await Promise.all(asked)).flat()
  }

  /** Returns nothing while there are no journals, because a search would create an index. */
  async #journalsOf(project: string): Promise<JournalSearch | undefined> {
    const { store } = await this.#openProject()
    const known = () => this.#journals.get(project)
    if (!known() && (await store.list(project, { isBare: true })).length === 0) return undefined
    const search = known() ?? journalSearchIn(store, { project })
    this.#journals.set(project, search)
    return search
  }

  /** The conversations that may contain a handle, most likely first. */
  async *#having(handle: string, asker: RecallClient): AsyncGenerator<ReadableConversation> {
    const { agent: named, message = "" } = parseHandle(handle) ?? {}
    const { index } = await this.#openProject()
    const transcripts = await this.transcripts()
    const current = await this.#current(transcripts, asker)
    const indexed = named === undefined ? index.pathsWith(message) : new Set<string>()
    const likely = transcripts.filter((one) =>
      named === undefined ? one === current || indexed.has(one.path) || !index.has(one) : matchesId(one.id, named),
    )
    const isFirst = (one: Transcript) => Number(one === current) * 2 + Number(indexed.has(one.path))
    for (const transcript of likely.toSorted((a, b) => isFirst(b) - isFirst(a))) {
      const { journal } = await this.#reader.read(transcript)
      yield { journal, prefix: named ?? (transcript === current ? "" : shortConversationId(transcript.id)) }
    }
    yield* this.#journalsNamed(named)
  }

  async *#journalsNamed(named: string | undefined): AsyncGenerator<ReadableConversation> {
    const { store } = await this.#openProject()
    const storedConversations = await this.storedConversations({ isBare: true })
    const fitting = storedConversations.filter(({ id }) => named === undefined || matchesId(id, named))
    for (const { project, id } of fitting.slice(0, MAX_JOURNALS)) {
      const journal: Journal | undefined = await store.open({ project, id }, { access: "read" }).catch(() => undefined)
      if (!journal) continue
      try {
        yield { journal, prefix: named ?? shortConversationId(id) }
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
        const { index } = await this.#openProject()
        const transcripts = await this.transcripts()
        const end = performance.now() + SLICE_MS
        isThrough = await this.#updates.run(() =>
          index.update(transcripts, { isLate: () => this.#isClosed || performance.now() > end }),
        )
        await setImmediate()
      }
    }
    // errors are reported by the next search that waits for the index
    void slices()
      .catch(() => undefined)
      .finally(() => {
        this.#isIndexing = false
      })
  }

  #openProject(): Promise<OpenProject> {
    this.#project ??= this.#openUncached()
    return this.#project
  }

  async #openUncached(): Promise<OpenProject> {
    const { env, store = storeFrom({ env }) } = this.#options
    const cwd = realPath(this.#options.cwd) ?? this.#options.cwd
    const project = await resolveProject({ cwd, env, root: strataDirectory(env), store })
    const given: ProjectInStore = { store, project, owner: localUser }
    const directory = journalDirectoryIn(store, projectNamespace(given))
    const path = directory === undefined ? {} : { path: join(directory, INDEX_NAME) }
    return {
      store,
      projects: await listProjectNamespaces(given),
      index: new TranscriptIndex({ ...path, reader: this.#reader }),
    }
  }
}

async function hasTextAtEnd({ path }: Transcript, text: string): Promise<boolean> {
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

const matchesId = (id: string, named: string): boolean =>
  id === named || (named.length >= SHORTEST_PREFIX && isSafeId(named) && id.startsWith(named))

async function* closeAfter<T>(values: AsyncIterable<T>, close: () => Promise<unknown>): AsyncGenerator<T> {
  try {
    yield* values
  } finally {
    await close()
  }
}
