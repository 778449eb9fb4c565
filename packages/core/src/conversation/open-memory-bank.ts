/** The memory bank of a project, for programs that display it, search it and change it on behalf of the user. */
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
import {
  conversationsIn,
  resolveProjectAt,
  resolveStoreLocation,
  type StoredConversation,
  type StoreLocation,
  WHERE_RULES,
} from "./list.ts"
import { memoriesToRead, migrateProject } from "./migrate-project.ts"

/** Owner and project of the memories. */
export interface MemoryBankOptions extends StoreLocation {
  readonly owner: Owner
  /** Whether to write nothing. While an agent works, its changes must not be attributed to the user. */
  readonly readOnly?: boolean
}

/** A passage of a past conversation that matches a search. */
export interface FoundPassage {
  readonly conversation: string
  readonly message: string
  readonly speaker: "user" | "assistant"
  readonly time: string
  /** The message, or the matching part of a long one. */
  readonly text: string
  /** Offset of the match in the text. */
  readonly at: number
  readonly words: readonly string[]
}

/** Results of a search in the memories and past conversations of a project, best first. */
export interface FoundInProject {
  readonly memories: readonly {
    readonly memory: Memory
    readonly isReplaced: boolean
    readonly words: readonly string[]
  }[]
  readonly passages: readonly FoundPassage[]
}

/** The memories of a project, which are the same from every working tree and subdirectory of a repository. */
export interface ProjectBank extends MemoryBank {
  /** Notices for the user about the opening, such as that another clone's memory is used here too. One sentence each. */
  readonly notices: readonly string[]
  /** References to code in a memory, and whether the code still contains them. */
  claims(memory: Memory): Promise<readonly CodeReference[]>
  /** Searches the memories and past conversations, without a model. */
  search(text: string, options?: { readonly limit?: number }): Promise<FoundInProject>
  /** Conversations of the project, from all its directories, newest first. */
  conversations(): Promise<readonly StoredConversation[]>
  /** The running dream of any process, else the last one. */
  dream(): Promise<DreamState | undefined>
  /** Asks the dream of any process to end. Memories remain as they were before it. */
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
  const { cwd, store } = resolveStoreLocation(options)
  const given: ProjectInStore = { store, owner, project: await resolveProjectAt(options) }
  const notices = readOnly ? [] : await migrateProject({ ...given, clock: systemClock })
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
      // adopted memories also remain in earlier namespaces
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

interface SearchInput {
  readonly memories: readonly Memory[]
  readonly store: Store
  /** Namespaces with past conversations. */
  readonly places: readonly string[]
}

async function searchIn(
  { memories, store, places }: SearchInput,
  question: { readonly text: string; readonly now: Date; readonly limit: number },
): Promise<FoundInProject> {
  // loaded on demand, because they need SQLite
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
