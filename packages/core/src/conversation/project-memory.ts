/**
 * The memory of a project, or of an agent, as a conversation uses it: the bank, the search, the sum of the day. The search is loaded with
 * the first question and never holds up a request for long.
 */
import { readdirSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { type Clock, systemClock } from "../base/clock.ts"
import { projectName } from "../base/ids.ts"
import { type Owner, placeFor } from "../base/owner.ts"
import { Shared } from "../base/shared.ts"
import type { MemoryMode } from "../base/vocabulary.ts"
import { projectDirectory } from "../journal/file/layout.ts"
import type { AgentMemoryPlace, MemoryFiles, MemoryPlace } from "../journal/memory-files.ts"
import type { Store } from "../journal/store.ts"
import { type Waiting, waitingConversations } from "../layers/5-auto-memory/extract/waiting.ts"
import { type DailySpend, dailySpend } from "../layers/daily-limit.ts"
import { Quota } from "../layers/quota.ts"
import { type MemoryBank, openBank } from "../memory/bank.ts"
import { claimsOf } from "../memory/claims.ts"
import { SEARCH_INDEX } from "../memory/file-names.ts"
import type { Memory } from "../memory/memory.ts"
import { projectIdentity } from "../memory/project-identity.ts"
import type { Question } from "../recall/answer/ranking.ts"
import type { JournalSearch } from "../recall/journal-search.ts"
import type { MemoryRecall, Recalled, RecallQuestion } from "../recall/memory-recall.ts"
import type { EffectiveSettings } from "../settings/settings.ts"
import { resolveTarget } from "../tools/files/paths.ts"
import { noteDirectory, type ProjectGround, projectDirectories } from "./project-directories.ts"

/** Of past conversations, in bytes: a request does not wait for more to be indexed, about 30 ms. The rest is found from a later message on. */
const MOST_NEW_BYTES = 48 * 1024
/** A message does not wait to see what was said elsewhere since. */
const MOST_AGE_MS = 2_000

export interface ProjectMemory {
  /** An agent writes its own memory with its file tools. No fork looks for more, and it is not dreamed about. */
  readonly kind: "project" | "agent"
  readonly mode: Exclude<MemoryMode, "off">
  readonly bank: MemoryBank
  readonly files: MemoryFiles
  readonly daily: DailySpend
  /** Conversations that were too short for an extraction. Absent for an agent's own memory. */
  readonly waiting?: Waiting
  readonly quota: Quota
  /** The directory with its links followed, if the store keeps files. */
  readonly directory?: string
  /** The names in a memory that the code no longer has. */
  readonly gone: (memory: Memory) => Promise<readonly string[]>
  readonly recall: (question: RecallQuestion) => Promise<readonly Recalled<Memory>[]>
  /** Directories with conversations of the project: of all its worktrees and subdirectories. None if the store keeps no files. */
  readonly journals: () => Promise<readonly string[]>
  close(): void
}

export interface MemoryGround {
  readonly store: Store
  readonly settings: EffectiveSettings
  readonly root: string
  readonly cwd: string
  readonly clock: Clock
  readonly code?: string
  /** The store is the caller's, and not ours. */
  readonly isOwnStore: boolean
}

/** A store of your own may keep its journals anywhere, so past conversations are searched only in ours. Without an owner there is no memory. */
export async function memoryFor(
  owner: Owner | undefined,
  { store, settings: { values }, root, isOwnStore, ...rest }: MemoryGround,
): Promise<ProjectMemory | undefined> {
  if (owner === undefined) return undefined
  const mode = values.off ? "off" : values.memory
  return openProjectMemory({ store, owner, mode, ...rest, ...(isOwnStore ? {} : { root }) })
}

export interface ProjectMemoryOptions {
  readonly store: Store
  /** Whose it is. */
  readonly owner: Owner
  readonly cwd: string
  readonly mode: MemoryMode
  readonly clock: Clock
  /** The root of the code that memories name things of. Default: `cwd`. */
  readonly code?: string
  /** Where the journals are, if they are files. Without it, past conversations are not searched. */
  readonly root?: string
}

/** Nothing if the memory is off. */
export async function openProjectMemory(options: ProjectMemoryOptions): Promise<ProjectMemory | undefined> {
  const { store, cwd, mode, root, owner } = options
  if (mode === "off") return undefined
  const identity = await projectIdentity(cwd)
  const ground: ProjectGround | undefined =
    root === undefined ? undefined : { root, identity: identity.name, cwd, owner }
  // what is not noted is not found from other worktrees, and nothing else is lost
  if (ground && mode !== "read-only") await noteDirectory(ground).catch(() => undefined)
  const projects = async () => (ground ? projectDirectories(ground) : [])
  const files = store.memories({ project: placeFor(identity.name, owner) })
  return openMemory(options, {
    kind: "project",
    files,
    waiting: waitingConversations(files, async (address) => {
      // a file says which conversations wait, and it must not lead to those of another owner
      const own = [placeFor(projectName(cwd), owner), ...(await projects())]
      return own.includes(address.project) ? store.open(address, { access: "read" }) : undefined
    }),
    ...(root === undefined ? {} : { past: { root, projects } }),
  })
}

export interface AgentMemoryOptions extends Omit<ProjectMemoryOptions, "root" | "owner"> {
  readonly place: AgentMemoryPlace
}

/** The memory of one agent in one scope. It does not search past conversations: those are the project's. */
export async function openAgentMemory(options: AgentMemoryOptions): Promise<ProjectMemory | undefined> {
  const { store, mode, place } = options
  if (mode === "off") return undefined
  return openMemory(options, { kind: "agent", files: store.memories(place) })
}

/** Where the files of a memory are, links followed. Nothing if the store keeps no files. */
export async function memoryDirectoryOf(store: Store, place: MemoryPlace): Promise<string | undefined> {
  const directory = store.memories(place).directory
  return directory === undefined ? undefined : followed(directory)
}

interface MemoryParts {
  readonly kind: ProjectMemory["kind"]
  readonly files: MemoryFiles
  readonly past?: Past
  readonly waiting?: Waiting
}

async function openMemory(
  { mode, clock, cwd, code = cwd }: Omit<ProjectMemoryOptions, "store" | "root" | "owner">,
  { kind, files, past, waiting }: MemoryParts,
): Promise<ProjectMemory | undefined> {
  if (mode === "off") return undefined
  const directory = files.directory === undefined ? undefined : await followed(files.directory)
  const isReadOnly = mode === "read-only"
  const canKeep = kind === "project" && !isReadOnly && directory !== undefined
  const open = () => openedMemory({ files, clock, isReadOnly, past, ...(canKeep ? { directory } : {}) })
  const key = JSON.stringify([directory, kind, mode, cwd, past?.root])
  // only in our own store: another one may keep other files under the same name. A clock of your own is for you alone
  const shared = past && clock === systemClock ? memories.use(key, open) : unshared(open())
  const { bank, recall } = shared.value
  return {
    ...{ kind, mode, files, bank, recall, daily: dailySpend(files), quota: new Quota() },
    ...(directory === undefined ? {} : { directory }),
    ...(waiting ? { waiting } : {}),
    close: () => shared.close(),
    journals: async () => (past ? (await past.projects()).map((project) => projectDirectory(past.root, project)) : []),
    gone: async (memory) =>
      (await claimsOf(memory, { directory: code })).filter(({ state }) => state === "gone").map(({ text }) => text),
  }
}

/** The bank of a memory and its search, one for all conversations of this process. */
interface OpenedMemory extends Pick<ProjectMemory, "bank" | "recall"> {
  close(): void
}

const memories = new Shared<OpenedMemory>()

const unshared = (value: OpenedMemory) => ({ value, close: () => value.close() })

interface OpeningMemory {
  readonly files: MemoryFiles
  readonly clock: Clock
  readonly isReadOnly: boolean
  readonly past: Past | undefined
  /** Where the index of memories can be kept. Default: in memory. */
  readonly directory?: string
}

function openedMemory({ files, clock, isReadOnly, past, directory }: OpeningMemory): OpenedMemory {
  const watch = files.watch?.()
  const bank = openBank({ files, clock, readOnly: isReadOnly, ...(watch ? { watch } : {}) })
  const search = searchIn(bank, { past, ...(directory === undefined ? {} : { index: join(directory, SEARCH_INDEX) }) })
  const close = () => {
    watch?.close()
    search.close()
  }
  return { bank, recall: search.recall, close }
}

/** A directory with its links followed. It need not exist. */
export async function followed(directory: string): Promise<string> {
  const context = { directory: { get: () => directory, set: () => undefined }, env: { HOME: homedir() } }
  return (await resolveTarget(directory, context)).path
}

interface Past {
  readonly root: string
  /** The project's directories in the store. */
  readonly projects: () => Promise<readonly string[]>
}

interface OpenSearch {
  readonly recall: MemoryRecall<Memory>
  readonly journals: readonly { readonly value: JournalSearch; close(): void }[]
}

interface SearchPlaces {
  readonly past: Past | undefined
  /** The file for the index of memories. Default: in memory. */
  readonly index?: string
}

function searchIn(bank: MemoryBank, { past, index }: SearchPlaces): Pick<OpenedMemory, "recall" | "close"> {
  let opened: Promise<OpenSearch> | undefined
  let others = false
  const open = async (): Promise<OpenSearch> => {
    const [{ MemoryRecall }, { sharedJournalSearch }] = await Promise.all([
      import("../recall/memory-recall.ts"), // they load SQLite
      import("../recall/journal-search.ts"),
    ])
    const projects = (await past?.projects()) ?? []
    const journals = projects.map((project) => sharedJournalSearch(projectDirectory(past!.root, project)))
    const searched = together(journals.map(({ value }) => value))
    const kept = index === undefined ? {} : { index }
    return { journals, recall: new MemoryRecall<Memory>({ bank, journals: searched, ...kept }) }
  }
  return {
    async recall(question) {
      others ||= past ? await hasOthers(past, question) : false
      if (!others && !(await bank.all()).length) return []
      opened ??= open()
      return (await opened).recall.recall(question)
    },
    close() {
      void opened?.then(({ recall, journals }) => {
        for (const one of [recall, ...journals]) one.close()
      })
    },
  }
}

/** Several indexes as one: the best of all. */
const together = (journals: readonly JournalSearch[]) => ({
  async search(question: Question) {
    const answers = []
    const except = question.exclude?.sources
    const which = { mostNew: MOST_NEW_BYTES, mostAge: MOST_AGE_MS, ...(except ? { except } : {}) }
    for (const index of journals) answers.push((await index.search(question, which)).answer)
    const found = answers.filter(({ isFitting }) => isFitting).flatMap((answer) => answer.found)
    return { found: found.sort((a, b) => b.score - a.score).slice(0, question.limit), isFitting: found.length > 0 }
  },
})

/** Whether there are journals besides those left out. */
async function hasOthers({ root, projects }: Past, { exclude }: RecallQuestion): Promise<boolean> {
  const left = new Set([...(exclude?.conversations ?? [])].map((id) => `${id}.jsonl`))
  for (const project of await projects()) {
    const names = namesIn(projectDirectory(root, project))
    if (names.some((name) => name.endsWith(".jsonl") && !left.has(name))) return true
  }
  return false
}

/** At once: it is asked with each message as long as there are no others, and then the directory is short. */
function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
