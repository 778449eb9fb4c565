/** The memory of a project, or of an agent, as a conversation uses it: the bank, the search, the sum of the day. */

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
import { memoriesToRead, settleProject } from "./settle-project.ts"

// The search that comes with each message: the memories of a project and what was said in its other conversations. It is loaded with the
// first question that can find something, and never holds up a request for long.

/** Of past conversations, in bytes: a request does not wait for more to be indexed, about 30 ms. The rest is found from a later message on. */
const MAX_NEW_BYTES = 48 * 1024
/** A message does not wait to see what was said elsewhere since. */
const MAX_AGE_MS = 2_000
/** While a project has no other conversation, the store is asked for one after this. What this process appends is heard at once. */
const ASK_AGAIN_MS = 60_000

/** The conversations of a project. */
export interface ProjectRecall {
  readonly store: Store
  /** The project's places in the store. */
  readonly places: () => Promise<readonly string[]>
}

export interface ProjectSearch {
  readonly recall: (question: RecallQuestion) => Promise<readonly RecalledMatch<Memory>[]>
  close(): void
}

interface SearchOptions {
  readonly bank: MemoryBank
  /** Absent: only memories are searched. */
  readonly past: ProjectRecall | undefined
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
    const which = { maxNew: MAX_NEW_BYTES, maxAge: MAX_AGE_MS, ...(except ? { except } : {}) }
    const answers = await Promise.all(journals.map(async (index) => (await index.search(question, which)).answer))
    const found = answers.filter(({ isFitting }) => isFitting).flatMap((answer) => answer.found)
    return { found: found.sort((a, b) => b.score - a.score).slice(0, question.limit), isFitting: found.length > 0 }
  },
})

/** Whether a project has conversations besides the asking one. Once it has, no one is asked again. */
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

export interface ProjectMemory {
  /** An agent writes its own memory with its file tools. No fork looks for more, and it is not dreamed about. */
  readonly kind: "project" | "agent"
  readonly mode: Exclude<MemoryMode, "off">
  readonly bank: MemoryBank
  readonly files: MemoryFiles
  /** What memory work has cost, over all processes. */
  readonly daily: DailyBudget
  /** What extractions and dreams may cost, and which conversations wait for one. Absent for an agent's own memory. */
  readonly budget?: MemoryBudget
  /** What the person said in a conversation of this memory. Absent for an agent's own memory. */
  readonly wordsOf?: ReadUserMessages
  readonly quota: RateLimitState
  /** The directory with its links followed, if the store keeps files, or of the working copy. */
  readonly directory?: string
  /** Where the store keeps no files: the texts as files, for an agent's file tools. */
  readonly copy?: WorkingCopy
  /** Why there is no working copy, as a sentence for a person. */
  readonly withoutCopy?: string
  /** The names in a memory that the code no longer has. */
  readonly gone: (memory: Memory) => Promise<readonly string[]>
  readonly recall: (question: RecallQuestion) => Promise<readonly RecalledMatch<Memory>[]>
  /** For the person, a sentence each: about the first use of the project from this directory, and what happened to the files. */
  readonly notices: readonly string[]
  /** The project's places in the store, also those of earlier versions. None for an agent's own memory. */
  readonly places: () => Promise<readonly string[]>
  /** What dreams note, and the conversations that they look at. Absent for an agent's own memory. */
  readonly dreams?: { readonly stateFiles: MemoryFiles; readonly permit: Permit; readonly past: PastConversations }
  close(): void
}

/** The sum of the day that memory work counts into. Absent where nothing may be written beside the memories. */
export const dailyOf = (memory: ProjectMemory | undefined): DailyBudget | undefined =>
  memory?.mode === "read-only" ? undefined : memory?.daily

export interface MemoryGround extends Pick<ProjectMemoryOptions, "isForTools"> {
  readonly store: Store
  readonly settings: EffectiveSettings
  readonly cwd: string
  readonly project: Project
  readonly clock: Clock
  readonly code?: string
  readonly env: ResolveProjectOptions["env"]
  readonly root: string
}

/** Without an owner there is no memory. */
export async function memoryFor(
  memory: MemoryOption | undefined,
  { settings: { values }, env, root, ...rest }: MemoryGround,
): Promise<ProjectMemory | undefined> {
  if (!memory) return undefined
  const { owner, directory } = memory
  const mode = values.off ? "off" : values.memory
  if (directory === undefined) return openProjectMemory({ owner, mode, ...rest })
  const project = await projectAbout({ cwd: directory, env, root, store: rest.store })
  if (project?.name === rest.project.name) return openProjectMemory({ owner, mode, ...rest })
  return project && openProjectMemory({ owner, mode, ...rest, project, cwd: directory, code: directory })
}

/** Nothing where others share the store and only a path names the project: another machine may have another one there. */
const projectAbout = (where: ResolveProjectOptions): Promise<Project | undefined> =>
  resolveProject(where).catch((error: unknown) => {
    if (error instanceof InvalidOptionError) return undefined
    throw error
  })

export interface ProjectMemoryOptions {
  readonly store: Store
  /** Whose it is. */
  readonly owner: Owner
  readonly project: Project
  readonly cwd: string
  readonly mode: MemoryMode
  readonly clock: Clock
  /** The root of the code that memories name things of. Default: `cwd`. */
  readonly code?: string
  /** File tools of an agent work in it, on a working copy where the store keeps no files. */
  readonly isForTools?: boolean
}

/** Nothing if the memory is off. */
export async function openProjectMemory(options: ProjectMemoryOptions): Promise<ProjectMemory | undefined> {
  const { store, mode } = options
  if (mode === "off") return undefined
  const isReadOnly = mode === "read-only"
  const taken = isReadOnly ? [] : await settleProject(options)
  const project = projectNamespace(options)
  const { copy, withoutCopy } = options.isForTools ? await workingCopyOf(store, { project }) : {}
  const files = copy ?? (isReadOnly ? await memoriesToRead(options) : projectMemories(options))
  const notices = [...taken, ...(isReadOnly ? [] : await noticesOf(files))]
  let found: Promise<readonly string[]> | undefined
  // new conversations are all in the first one, so the others stay the same
  const places = () => {
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
      past: pastConversations(store, places),
    },
    budget: memoryBudget(files),
    wordsOf: userMessagesReader(async (address) =>
      // a file says which conversations wait, and it must not lead to those of another owner
      (await places()).includes(address.project) ? store.open(address, { access: "read" }) : undefined,
    ),
    past: { store, places, project },
  })
}

export interface AgentMemoryOptions extends Omit<ProjectMemoryOptions, "owner" | "project"> {
  readonly place: AgentMemoryNamespace
  /** Where the conversations of its project are kept. What it costs counts into the project's sum. */
  readonly project: string
}

/** The memory of one agent in one scope. It does not search past conversations: those are the project's. */
export async function openAgentMemory(options: AgentMemoryOptions): Promise<ProjectMemory | undefined> {
  const { store, mode, place } = options
  if (mode === "off") return undefined
  const { copy, withoutCopy } = place.scope === "project" ? {} : await workingCopyOf(store, place)
  const files = copy ?? filesOf(store, place)
  const notices = mode === "read-only" ? [] : await noticesOf(files)
  return openMemory(options, {
    kind: "agent",
    files,
    copy,
    withoutCopy,
    notices,
    daily: dailyBudgetIn(store.memories({ project: options.project })),
  })
}

/** A directory that cannot be used says so with the first request. */
const noticesOf = async (files: MemoryFiles): Promise<readonly string[]> =>
  (await files.notices?.().catch(() => [])) ?? []

/** Where the files of a memory are, links followed. Nothing if the store keeps no files. */
export async function memoryDirectoryOf(store: Store, place: MemoryNamespace): Promise<string | undefined> {
  const { directory } = filesOf(store, place)
  return directory === undefined ? undefined : followed(directory)
}

/** A disk that cannot be written costs only the tools: what is said is still remembered. */
const workingCopyOf = (
  store: Store,
  place: MemoryNamespace,
): Promise<{ readonly copy?: WorkingCopy | undefined; readonly withoutCopy?: string }> =>
  openWorkingCopy(store, place).then(
    (copy) => ({ copy }),
    (error: unknown) => ({
      withoutCopy: `The agent cannot read and write memories with its file tools: no directory could be made for them (${errorReason(error)}). What is said is remembered all the same.`,
    }),
  )

/** An agent's memory of scope `project` is in the repository, where it can be committed, also if the store is elsewhere. */
const filesOf = (store: Store, place: MemoryNamespace): MemoryFiles =>
  "agent" in place && place.scope === "project"
    ? memoryDirectory({ clock: systemClock, ...memoryNamespaceDirectory("", place) })
    : store.memories(place)

interface MemoryParts {
  readonly kind: ProjectMemory["kind"]
  readonly files: MemoryFiles
  readonly copy?: WorkingCopy | undefined
  readonly withoutCopy?: string | undefined
  readonly notices?: readonly string[]
  readonly daily: DailyBudget
  readonly dreams?: ProjectMemory["dreams"]
  /** `project`: the place of the memory. */
  readonly past?: ProjectRecall & { readonly project: string }
  readonly budget?: MemoryBudget
  readonly wordsOf?: ReadUserMessages
}

async function openMemory(
  { mode, clock, cwd, code = cwd }: Omit<ProjectMemoryOptions, "store" | "owner" | "project">,
  { kind, files, copy, withoutCopy, notices = [], daily, dreams, past, budget, wordsOf }: MemoryParts,
): Promise<ProjectMemory | undefined> {
  if (mode === "off") return undefined
  const directory = files.directory === undefined ? undefined : await followed(files.directory)
  const isReadOnly = mode === "read-only"
  const canKeep = kind === "project" && !isReadOnly && directory !== undefined && !copy
  const open = () => openedMemory({ files, clock, isReadOnly, past, ...(canKeep ? { directory } : {}) })
  const key = JSON.stringify([directory, past?.project, mode, cwd])
  // stores with the same files share them, any other store is apart. A clock of your own and a working copy are for you alone
  const opened = copy ? undefined : past && (directory === undefined ? inStores.of(past.store) : inFiles)
  const shared = opened && clock === systemClock ? opened.use(key, open) : unshared(open())
  const { bank, recall } = shared.value
  return {
    ...{ kind, mode, files, notices, bank, recall, daily, quota: new RateLimitState() },
    ...(directory === undefined ? {} : { directory }),
    ...(budget ? { budget } : {}),
    ...(wordsOf ? { wordsOf } : {}),
    ...(dreams ? { dreams } : {}),
    places: async () => (past ? past.places() : []),
    ...(copy ? { copy } : {}),
    ...(withoutCopy === undefined ? {} : { withoutCopy }),
    close() {
      shared.close()
      copy?.close()
    },
    gone: async (memory) =>
      (await checkCodeReferences(memory, { directory: code }))
        .filter(({ state }) => state === "gone")
        .map(({ text }) => text),
  }
}

/** The bank of a memory and its search, one for all conversations of this process. */
interface OpenedMemory extends Pick<ProjectMemory, "bank" | "recall"> {
  /** Closes the indexes. What was read of the memories stays. */
  rest(): void
  close(): void
}

/** Memories that stay open without a user: the next conversation would read all of it again. */
const MAX_IDLE = 8

const inFiles = new RefCounted<OpenedMemory>({ maxIdle: MAX_IDLE })
const inStores = new RefCountedPerObject<OpenedMemory>({ maxIdle: MAX_IDLE })

const unshared = (value: OpenedMemory) => ({ value, close: () => value.close() })

interface OpeningMemory {
  readonly files: MemoryFiles
  readonly clock: Clock
  readonly isReadOnly: boolean
  readonly past: ProjectRecall | undefined
  /** Where the index of memories can be kept. Default: in memory. */
  readonly directory?: string
}

function openedMemory({ files, clock, isReadOnly, past, directory }: OpeningMemory): OpenedMemory {
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

/** A directory with its links followed. It need not exist. */
export async function followed(directory: string): Promise<string> {
  const context = { directory: { get: () => directory, set: () => undefined }, env: { HOME: homedir() } }
  return (await resolveTarget(directory, context)).path
}
