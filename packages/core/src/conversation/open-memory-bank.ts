/** The memory bank of a project, for programs that show it, search it and change it in the person's name. */
import { systemClock } from "../base/clock.ts"
import { StrataError } from "../base/errors.ts"
import { repositoryRoot } from "../base/git.ts"
import { anOption, checkOptions, type OptionRules, required } from "../base/options.ts"
import type { Owner } from "../base/owner.ts"
import { CONSOLIDATE } from "../journal/permit.ts"
import {
  listProjectNamespaces,
  type ProjectInStore,
  projectMemories,
  projectNamespace,
} from "../journal/project-namespaces.ts"
import type { Store } from "../journal/store.ts"
import { type DreamKillResult, type DreamState, killDream, readDreamState } from "../layers/6-dreaming/dream-task.ts"
import { eraseDreamTraces } from "../layers/6-dreaming/install.ts"
import { type MemoryBank, openBank } from "../memory/bank.ts"
import type { CodeReference } from "../memory/code-references.ts"
import type { Memory } from "../memory/memory.ts"
import { conversationsIn, keptIn, projectIn, type StoredConversation, type StoreLocation, WHERE_RULES } from "./list.ts"
import { memoriesToRead, settleProject } from "./settle-project.ts"

/** Whose memories, and of which project. */
export interface MemoryBankOptions extends StoreLocation {
  readonly owner: Owner
  /** Writes nothing. While an agent works, its writes must not be recorded as the person's. */
  readonly readOnly?: boolean
}

/** A passage of a past conversation that fits a search. */
export interface FoundPassage {
  readonly conversation: string
  readonly message: string
  readonly speaker: "user" | "assistant"
  readonly time: string
  /** The message, or the part of a long one that fits. */
  readonly text: string
  /** Where in the text the match is. */
  readonly at: number
  readonly words: readonly string[]
}

/** What a search in the memories and the past conversations of a project found, the best first. */
export interface FoundInProject {
  readonly memories: readonly {
    readonly memory: Memory
    readonly isReplaced: boolean
    readonly words: readonly string[]
  }[]
  readonly passages: readonly FoundPassage[]
}

/** The memories of a project: the same from every worktree and subdirectory of a repository. */
export interface ProjectBank extends MemoryBank {
  /** What the person should know of the opening, such as that another clone's memory is used here too. One sentence each. */
  readonly notices: readonly string[]
  /** What a memory names of the code, and whether the code still has it. */
  claims(memory: Memory): Promise<readonly CodeReference[]>
  /** Searches the memories and the past conversations. No model is asked. */
  search(text: string, options?: { readonly limit?: number }): Promise<FoundInProject>
  /** The conversations of the project, from all its directories, newest first. */
  conversations(): Promise<readonly StoredConversation[]>
  /** The dream of any process, running or the last one. */
  dream(): Promise<DreamState | undefined>
  /** Asks the dream of any process to end. The memories stay as they were before it. */
  stopDream(): Promise<DreamKillResult>
}

const RULES: OptionRules<MemoryBankOptions> = {
  ...WHERE_RULES,
  owner: required(WHERE_RULES.owner!),
  readOnly: anOption.switch,
}

const MAX_FOUND = 10

export async function openMemoryBank(options: MemoryBankOptions): Promise<ProjectBank> {
  checkOptions("openMemoryBank", options, RULES)
  const { owner, readOnly = false } = options
  const { cwd, store } = keptIn(options)
  const given: ProjectInStore = { store, owner, project: await projectIn(options) }
  const notices = readOnly ? [] : await settleProject({ ...given, clock: systemClock })
  const files = readOnly ? await memoriesToRead(given) : projectMemories(given)
  const bank = openBank({ files, readOnly })
  const project = projectNamespace(given)
  const dreams = {
    ...{ files, stateFiles: store.memories({ project, collection: "dreams" }) },
    ...{ permit: store.permit({ project, name: CONSOLIDATE }), clock: systemClock },
  }
  const projects = () => listProjectNamespaces(given)
  return {
    ...bank,
    notices,
    async claims(memory) {
      const { checkCodeReferences } = await import("../memory/code-references.ts")
      return checkCodeReferences(memory, { directory: repositoryRoot(cwd) })
    },
    search: async (text, { limit = MAX_FOUND } = {}) =>
      searchIn({ memories: await bank.all(), store, places: await projects() }, { text, limit, now: new Date() }),
    dream: async () => readDreamState(dreams),
    stopDream: async () => killDream(dreams),
    conversations: async () => conversationsIn(store, await projects()),
    async erase(file) {
      if (!(await eraseDreamTraces(file, dreams))) throw new StrataError(DREAMING, { code: "dream-running" })
      const erased = await bank.erase(file)
      // what was taken over from earlier places is still in them
      for (const project of (await projects()).slice(1))
        await openBank({ files: store.memories({ project }) }).erase(file)
      const { removeJournalIndex } = await import("../recall/journal-search.ts")
      for (const project of await projects()) await removeJournalIndex(store, { project })
      return erased
    },
  }
}

const DREAMING =
  "A dream is running, and its copy has this memory in it. Nothing was changed. End the dream first, or wait for it."

interface Searched {
  readonly memories: readonly Memory[]
  readonly store: Store
  /** Where the store keeps past conversations. */
  readonly places: readonly string[]
}

async function searchIn(
  { memories, store, places }: Searched,
  question: { readonly text: string; readonly now: Date; readonly limit: number },
): Promise<FoundInProject> {
  // they need SQLite
  const [{ sharedJournalSearch }, { MemorySearch }] = await Promise.all([
    import("../recall/journal-search.ts"),
    import("../recall/memory-search.ts"),
  ])
  const searched = await Promise.all(
    places.map(async (project) => {
      const journals = sharedJournalSearch(store, { project })
      try {
        return (await journals.value.search({ ...question, isDialogue: true })).answer.found
      } finally {
        journals.close()
      }
    }),
  )
  const search = new MemorySearch(memories)
  const found = search.search({ ...question, includeRetired: true })
  search.close()
  return {
    memories: found.map(({ memory, isRetired, words }) => ({ memory, isReplaced: isRetired, words })),
    passages: searched
      .flat()
      .sort((a, b) => b.score - a.score)
      .slice(0, question.limit)
      .map(({ source, uuid, kind, time, text, at, words }) => ({
        ...{ conversation: source, message: uuid, speaker: kind === "user" ? "user" : "assistant" },
        ...{ time, text, at, words },
      })),
  }
}
