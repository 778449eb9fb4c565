/** The memory of a project or an agent, as a conversation uses it: the bank, the search, the daily budget. */

import { homedir } from "node:os"
import { join } from "node:path"
import { type Clock, systemClock } from "../base/clock.ts"
import type { MemoryMode } from "../base/enums.ts"
import { errorReason } from "../base/errors.ts"
import { InvalidOptionError } from "../base/options.ts"
import type { MemoryOption, Owner } from "../base/owner.ts"
import type { Project } from "../base/project.ts"
import { RefCounted, RefCountedPerObject } from "../base/work.ts"
import { memoryNamespaceDirectory } from "../journal/file/layout.ts"
import { memoryDirectory } from "../journal/file/memory-directory.ts"
import type { AgentMemoryNamespace, MemoryFiles, MemoryNamespace } from "../journal/memory-files.ts"
import { CONSOLIDATE, type Permit } from "../journal/permit.ts"
import { listProjectNamespaces, projectMemories, projectNamespace } from "../journal/project-namespaces.ts"
import { type ResolveProjectOptions, resolveProject } from "../journal/resolve-project.ts"
import { type DailyBudget, dailyBudgetIn, type Store } from "../journal/store.ts"
import { type ReadUserMessages, userMessagesReader } from "../layers/5-auto-memory/extract/due.ts"
import { type PastConversations, pastConversations } from "../layers/6-dreaming/transcripts.ts"
import { RateLimitState } from "../layers/budget.ts"
import { type MemoryBudget, memoryBudget } from "../layers/memory-budget.ts"
import { type MemoryBank, openBank } from "../memory/bank.ts"
import { checkCodeReferences } from "../memory/code-references.ts"
import { SEARCH_INDEX } from "../memory/file-names.ts"
import type { Memory } from "../memory/memory.ts"
import { openWorkingCopy, type WorkingCopy } from "../memory/working-copy.ts"
import type { Question } from "../recall/answer/ranking.ts"
import type { JournalSearch } from "../recall/journal-search.ts"
import type { MemoryRecall, RecalledMatch, RecallQuestion } from "../recall/memory-recall.ts"
import type { EffectiveSettings } from "../settings/settings.ts"
import { resolveTarget } from "../tools/files/paths.ts"
import { memoriesToRead, migrateProject } from "./migrate-project.ts"

// Search for each message: in the memories of a project and its other conversations. It is loaded with the first query that can find
// something, and never delays a request for long.

/** Maximum bytes of past conversations to index during a request, about 30 ms. The rest is indexed for later messages. */
const MAX_NEW_BYTES = 48 * 1024
/** Maximum age of the index. A message does not wait for newer content of other conversations. */
const MAX_AGE_MS = 2_000
/** Interval for checking the store while a project has no other conversation. Conversations of this process are noticed at once. */
const ASK_AGAIN_MS = 60_000

/** The conversations of a project. */
export interface ProjectRecall {
  readonly store: Store
  /** Namespaces of the project in the store. */
  readonly namespaces: () => Promise<readonly string[]>
}

export interface ProjectSearch {
  readonly recall: (question: RecallQuestion) => Promise<readonly RecalledMatch<Memory>[]>
  close(): void
}

interface SearchOptions {
  readonly bank: MemoryBank
  /** Past conversations. `undefined`: only memories are searched. */
  readonly past: ProjectRecall | undefined
  readonly clock: Clock
  /** File for the index of memories. Default: in memory. */
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
      import("../recall/memory-recall.ts"), // loaded on demand, because they need SQLite
      import("../recall/journal-search.ts"),
    ])
    const places = (await past?.namespaces()) ?? []
    const journals = places.map((project) => sharedJournalSearch(past!.store, { project }))
    const searched = combineIndexes(journals.map(({ value }) => value))
    const kept = index === undefined ? {} : { index }
    return { journals, recall: new MemoryRecall<Memory>({ bank, journals: searched, ...kept }) }
  }
  return {
    async recall(question) {
      const isEmpty = !(await bank.all()).length && !(await others?.areThere(question.exclude?.conversations))
      if (isEmpty) return []
      opened ??= open().catch((error: unknown) => {
        opened = undefined // the store may respond the next time
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

/** Combines several indexes and returns the best matches of all. */
const combineIndexes = (journals: readonly JournalSearch[]) => ({
  async search(question: Question) {
    const except = question.exclude?.sources
    const which = { maxNew: MAX_NEW_BYTES, maxAge: MAX_AGE_MS, ...(except ? { except } : {}) }
    const answers = await Promise.all(journals.map(async (index) => (await index.search(question, which)).answer))
    const found = answers.filter(({ isFitting }) => isFitting).flatMap((answer) => answer.found)
    return { found: found.sort((a, b) => b.score - a.score).slice(0, question.limit), isFitting: found.length > 0 }
  },
})

/** Detects whether a project has other conversations. Once it has, the store is not checked again. */
class OtherConversations {
  readonly #past: ProjectRecall
  readonly #clock: Clock
  readonly #known = new Set<string>()
  #stops: readonly (() => void)[] = []
  #askedAt = Number.NEGATIVE_INFINITY
  #areThere = false
  #isClosed = false

  constructor(past: ProjectRecall, clock: Clock) {
    this.#past = past
    this.#clock = clock
  }

  /** Whether there are other conversations. `left`: ids to ignore. */
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
    const { store, namespaces } = this.#past
    const names = await namespaces()
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

export interface ProjectMemory {
  /** `agent`: an agent's own memory, which it writes with its file tools, without extraction and dreams. */
  readonly kind: "project" | "agent"
  readonly mode: Exclude<MemoryMode, "off">
  readonly bank: MemoryBank
  readonly files: MemoryFiles
  /** Daily budget of memory work, shared by all processes. */
  readonly daily: DailyBudget
  /** Budget of extractions and dreams, and the conversations waiting for extraction. Absent for an agent's own memory. */
  readonly budget?: MemoryBudget
  /** Reads the user's messages in a conversation of this memory. Absent for an agent's own memory. */
  readonly readUserMessages?: ReadUserMessages
  readonly quota: RateLimitState
  /** Directory with symbolic links resolved, if the store uses files, or of the working copy. */
  readonly directory?: string
  /** Working copy for an agent's file tools, if the store does not use files. */
  readonly copy?: WorkingCopy
  /** Reason why there is no working copy, as a sentence for the user. */
  readonly withoutCopy?: string
  /** Finds names in a memory that the code no longer contains. */
  readonly findMissingNames: (memory: Memory) => Promise<readonly string[]>
  readonly recall: (question: RecallQuestion) => Promise<readonly RecalledMatch<Memory>[]>
  /** Sentences for the user about the first use of the project from this directory, and about problems with the files. */
  readonly notices: readonly string[]
  /** Namespaces of the project in the store, including those of earlier versions. Empty for an agent's own memory. */
  readonly namespaces: () => Promise<readonly string[]>
  /** State of dreams, and the conversations that they read. Absent for an agent's own memory. */
  readonly dreams?: { readonly stateFiles: MemoryFiles; readonly permit: Permit; readonly past: PastConversations }
  close(): void
}

/** Daily budget of memory work. `undefined` if only memories may be read. */
export const dailyOf = (memory: ProjectMemory | undefined): DailyBudget | undefined =>
  memory?.mode === "read-only" ? undefined : memory?.daily

export interface MemoryDependencies extends Pick<ProjectMemoryOptions, "isForTools"> {
  readonly store: Store
  readonly settings: EffectiveSettings
  readonly cwd: string
  readonly project: Project
  readonly clock: Clock
  readonly code?: string
  readonly env: ResolveProjectOptions["env"]
  readonly root: string
}

/** Opens the memory. `undefined` without an owner. */
export async function memoryFor(
  memory: MemoryOption | undefined,
  { settings: { values }, env, root, ...rest }: MemoryDependencies,
): Promise<ProjectMemory | undefined> {
  if (!memory) return undefined
  const { owner, directory } = memory
  const mode = values.off ? "off" : values.memory
  if (directory === undefined) return openProjectMemory({ owner, mode, ...rest })
  const project = await findProject({ cwd: directory, env, root, store: rest.store })
  if (project?.name === rest.project.name) return openProjectMemory({ owner, mode, ...rest })
  return project && openProjectMemory({ owner, mode, ...rest, project, cwd: directory, code: directory })
}

/**
 * Resolves a project. `undefined` if the store is shared and only a path identifies the project, because another machine may have another
 * project there.
 */
const findProject = (where: ResolveProjectOptions): Promise<Project | undefined> =>
  resolveProject(where).catch((error: unknown) => {
    if (error instanceof InvalidOptionError) return undefined
    throw error
  })

export interface ProjectMemoryOptions {
  readonly store: Store
  /** Owner of the memory. */
  readonly owner: Owner
  readonly project: Project
  readonly cwd: string
  readonly mode: MemoryMode
  readonly clock: Clock
  /** Root of the code that memories refer to. Default: `cwd`. */
  readonly code?: string
  /** Whether an agent's file tools access it, on a working copy if the store does not use files. */
  readonly isForTools?: boolean
}

/** Opens the memory of a project. `undefined` if it is off. */
export async function openProjectMemory(options: ProjectMemoryOptions): Promise<ProjectMemory | undefined> {
  const { store, mode } = options
  if (mode === "off") return undefined
  const isReadOnly = mode === "read-only"
  const taken = isReadOnly ? [] : await migrateProject(options)
  const project = projectNamespace(options)
  const { copy, withoutCopy } = options.isForTools ? await workingCopyOf(store, { project }) : {}
  const files = copy ?? (isReadOnly ? await memoriesToRead(options) : projectMemories(options))
  const notices = [...taken, ...(isReadOnly ? [] : await readNotices(files))]
  let found: Promise<readonly string[]> | undefined
  // all new conversations are in the first namespace, so the others do not change
  const namespaces = () => {
    found ??= listProjectNamespaces(options)
    return found
  }
  return openMemory(options, {
    kind: "project",
    ...{ files, copy, withoutCopy, notices },
    daily: dailyBudgetIn(store.memories({ project })),
    dreams: {
      stateFiles: store.memories({ project, collection: "dreams" }),
      permit: store.permit({ project, name: CONSOLIDATE }),
      past: pastConversations(store, namespaces),
    },
    budget: memoryBudget(files),
    readUserMessages: userMessagesReader(async (address) =>
      // the list of waiting conversations is a file, which must not refer to conversations of other owners
      (await namespaces()).includes(address.project) ? store.open(address, { access: "read" }) : undefined,
    ),
    past: { store, namespaces, project },
  })
}

export interface AgentMemoryOptions extends Omit<ProjectMemoryOptions, "owner" | "project"> {
  readonly namespace: AgentMemoryNamespace
  /** Namespace of the project's conversations. Its cost counts towards the project's daily budget. */
  readonly project: string
}

/** Opens the memory of one agent in one scope. It does not search past conversations, which belong to the project. */
export async function openAgentMemory(options: AgentMemoryOptions): Promise<ProjectMemory | undefined> {
  const { store, mode, namespace } = options
  if (mode === "off") return undefined
  const { copy, withoutCopy } = namespace.scope === "project" ? {} : await workingCopyOf(store, namespace)
  const files = copy ?? filesOf(store, namespace)
  const notices = mode === "read-only" ? [] : await readNotices(files)
  return openMemory(options, {
    kind: "agent",
    files,
    copy,
    withoutCopy,
    notices,
    daily: dailyBudgetIn(store.memories({ project: options.project })),
  })
}

/** Notices about an unusable directory, which are reported with the first request. */
const readNotices = async (files: MemoryFiles): Promise<readonly string[]> =>
  (await files.notices?.().catch(() => [])) ?? []

/** Directory of a memory's files with symbolic links resolved. `undefined` if the store does not use files. */
export async function memoryDirectoryOf(store: Store, place: MemoryNamespace): Promise<string | undefined> {
  const { directory } = filesOf(store, place)
  return directory === undefined ? undefined : followed(directory)
}

/** Opens a working copy. If the disk cannot be written, only the tools are affected, and memories are still extracted. */
const workingCopyOf = (
  store: Store,
  place: MemoryNamespace,
): Promise<{ readonly copy?: WorkingCopy | undefined; readonly withoutCopy?: string }> =>
  openWorkingCopy(store, place).then(
    (copy) => ({ copy }),
    (error: unknown) => ({
      withoutCopy: `The agent cannot read and write memories with its file tools: no directory could be made for them (${errorReason(error)}). Memories are still saved.`,
    }),
  )

/**
 * Files of a memory. An agent's memory of scope `project` is in the repository, where it can be committed, even if the store is elsewhere.
 */
const filesOf = (store: Store, place: MemoryNamespace): MemoryFiles =>
  "agent" in place && place.scope === "project"
    ? memoryDirectory({ clock: systemClock, ...memoryNamespaceDirectory("", place) })
    : store.memories(place)

interface MemoryPartsInput {
  readonly kind: ProjectMemory["kind"]
  readonly files: MemoryFiles
  readonly copy?: WorkingCopy | undefined
  readonly withoutCopy?: string | undefined
  readonly notices?: readonly string[]
  readonly daily: DailyBudget
  readonly dreams?: ProjectMemory["dreams"]
  /** Past conversations. `project`: namespace of the memory. */
  readonly past?: ProjectRecall & { readonly project: string }
  readonly budget?: MemoryBudget
  readonly readUserMessages?: ReadUserMessages
}

async function openMemory(
  { mode, clock, cwd, code = cwd }: Omit<ProjectMemoryOptions, "store" | "owner" | "project">,
  { kind, files, copy, withoutCopy, notices = [], daily, dreams, past, budget, readUserMessages }: MemoryPartsInput,
): Promise<ProjectMemory | undefined> {
  if (mode === "off") return undefined
  const directory = files.directory === undefined ? undefined : await followed(files.directory)
  const isReadOnly = mode === "read-only"
  const canKeep = kind === "project" && !isReadOnly && directory !== undefined && !copy
  const open = () => createOpenedMemory({ files, clock, isReadOnly, past, ...(canKeep ? { directory } : {}) })
  const key = JSON.stringify([directory, past?.project, mode, cwd])
  // stores with the same files share an opened memory; a custom clock or a working copy is never shared
  const opened = copy ? undefined : past && (directory === undefined ? inStores.of(past.store) : inFiles)
  const shared = opened && clock === systemClock ? opened.use(key, open) : unshared(open())
  const { bank, recall } = shared.value
  return {
    ...{ kind, mode, files, notices, bank, recall, daily, quota: new RateLimitState() },
    ...(directory === undefined ? {} : { directory }),
    ...(budget ? { budget } : {}),
    ...(readUserMessages ? { readUserMessages } : {}),
    ...(dreams ? { dreams } : {}),
    namespaces: async () => (past ? past.namespaces() : []),
    ...(copy ? { copy } : {}),
    ...(withoutCopy === undefined ? {} : { withoutCopy }),
    close() {
      shared.close()
      copy?.close()
    },
    findMissingNames: async (memory) =>
      (await checkCodeReferences(memory, { directory: code }))
        .filter(({ state }) => state === "gone")
        .map(({ text }) => text),
  }
}

/** The bank of a memory and its search, shared by all conversations of this process. */
interface OpenedMemory extends Pick<ProjectMemory, "bank" | "recall"> {
  /** Closes the indexes. Memories that were read remain loaded. */
  rest(): void
  close(): void
}

/** Number of unused memories that remain open, because the next conversation would load them again. */
const MAX_IDLE = 8

const inFiles = new RefCounted<OpenedMemory>({ maxIdle: MAX_IDLE })
const inStores = new RefCountedPerObject<OpenedMemory>({ maxIdle: MAX_IDLE })

const unshared = (value: OpenedMemory) => ({ value, close: () => value.close() })

interface OpenMemoryInput {
  readonly files: MemoryFiles
  readonly clock: Clock
  readonly isReadOnly: boolean
  readonly past: ProjectRecall | undefined
  /** Directory for the index of memories. Default: in memory. */
  readonly directory?: string
}

function createOpenedMemory({ files, clock, isReadOnly, past, directory }: OpenMemoryInput): OpenedMemory {
  const watch = files.watch?.()
  const bank = openBank({ files, clock, readOnly: isReadOnly, ...(watch ? { watch } : {}) })
  const index = directory === undefined ? {} : { index: join(directory, SEARCH_INDEX) }
  let search: ProjectSearch | undefined
  const rest = () => {
    search?.close()
    search = undefined
  }
  const recall: OpenedMemory["recall"] = (question) => {
    search ??= projectSearch({ bank, past, clock, ...index })
    return search.recall(question)
  }
  const close = () => {
    watch?.close()
    rest()
  }
  return { bank, recall, rest, close }
}

/** Resolves symbolic links of a directory, which need not exist. */
export async function followed(directory: string): Promise<string> {
  const context = { directory: { get: () => directory, set: () => undefined }, env: { HOME: homedir() } }
  return (await resolveTarget(directory, context)).path
}
