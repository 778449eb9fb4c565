/**
 * A memory bank: the memories of one place, changed as a whole, with a history. Edits made by hand are recorded as the person's
 * before anything else happens. No secret is written, and what a tool said never becomes a rule.
 *
 * `changes/`: read a snapshot, plan, merge, commit to the history. `facts/`: what memories say, and which contradict each other.
 */

import { join } from "node:path"
import { type Clock, dayOf, systemClock } from "../base/clock.ts"
import { MemoryChangedError, MemoryWriteError } from "../base/errors.ts"
import { maskSecrets } from "../base/secrets/find-secrets.ts"
import { Queue } from "../base/work.ts"
import type { MemoryFiles, MemoryFilesWatch } from "../journal/memory-files.ts"
import type { Store } from "../journal/store.ts"
import { removeDatabase } from "../recall/index/index-file.ts"
import { TOKENS_VERSION } from "../recall/index/tokens.ts"
import { journalSearchIn } from "../recall/journal-search.ts"
import { commit } from "./changes/commit.ts"
import { planErasure } from "./changes/erase.ts"
import { isCommandRunning, withoutLeftOvers } from "./changes/hand-edits.ts"
import { HEAD, historyError, loadChanges, readCopy } from "./changes/history.ts"
import { patchOf } from "./changes/merge.ts"
import { planProposal, planRevert } from "./changes/plan-change.ts"
import { planHandEdits, planToolEdits } from "./changes/plan-record.ts"
import { type Snapshot, SnapshotReader } from "./changes/snapshot.ts"
import { INDEX_FILE, SEARCH_INDEX } from "./file-names.ts"
import { type LoadedIndex, loadedIndex, ownIndex, updateIndex } from "./index-file.ts"
import {
  isUserMemory,
  type Memory,
  type MemoryAuthor,
  type MemoryChange,
  type MemoryProposal,
  type MemoryToolEdits,
} from "./memory.ts"

const MAX_ATTEMPTS = 100 // each failure means that another process succeeded

interface BankOptions {
  readonly files: MemoryFiles
  readonly clock?: Clock
  /** Writes nothing, not even edits made by hand into the history. */
  readonly readOnly?: boolean
  /** Says whether the files may have changed. Without it, each reading looks at all of them. The caller closes it. */
  readonly watch?: MemoryFilesWatch
}

/** The memories of one place, with their history. */
export interface MemoryBank {
  /** For messages to a person. */
  readonly location: string
  /** The directory, if the store keeps files. */
  readonly directory?: string
  /** All memories, also those that are superseded, sorted by file. */
  all(): Promise<readonly Memory[]>
  get(file: string): Promise<Memory | undefined>
  /** The exact text of a memory or of the index. */
  text(file: string): Promise<string | undefined>
  /** @internal The index as it is loaded at the start of a conversation. */
  index(): Promise<LoadedIndex>
  /** Makes one change of any number of files. Nothing if everything is already as proposed. */
  change(proposal: MemoryProposal): Promise<MemoryChange | undefined>
  /** The person says yes to a memory: it counts as theirs from now on. Nothing if there is no such memory, or it is theirs already. */
  confirm(file: string): Promise<MemoryChange | undefined>
  /** @internal Takes what file tools just wrote into the history. Announce the write before, so that no one takes it for the person's. */
  record(edits: MemoryToolEdits): Promise<MemoryChange | undefined>
  /** The oldest change first. */
  history(): Promise<readonly MemoryChange[]>
  /** A change as a unified diff. */
  diff(id: string): Promise<string>
  /** Takes a change back, as a new change. Edits made since in other lines stay. */
  revert(id: string, options?: { readonly by?: MemoryAuthor; readonly why?: string }): Promise<MemoryChange | undefined>
  /**
   * Erases a memory for good: the file, its archived copies, and everything about it in the history. It cannot be taken back. Nothing if
   * no file and no change has this name.
   */
  erase(file: string): Promise<{ readonly changes: number } | undefined>
  /** @internal A text from the history, by its hash. */
  earlierText(hash: string): Promise<string>
  /** Whether a command of an agent in another process runs now. What is said on its behalf may not be the person's. */
  isCommandRunning(): Promise<boolean>
  /** What is wrong with the files, one sentence each. */
  problems(): Promise<readonly string[]>
}

export function openBank({ files, clock = systemClock, readOnly = false, watch }: BankOptions): MemoryBank {
  const reader = new SnapshotReader(files, { readOnly })

  /** Repeats work that another process overtook. */
  async function retried<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof MemoryChangedError) || attempt >= MAX_ATTEMPTS) throw error
      }
    }
  }

  /** Records what was written past the bank, as one change for each origin. */
  async function recordHandEdits(): Promise<Snapshot> {
    for (;;) {
      const snapshot = await reader.read()
      const plan = await planHandEdits({ files, snapshot })
      const change = plan && (await commit({ files, reader, snapshot, plan, now: clock.now() }))
      if (change) continue
      const leftOver = withoutLeftOvers(snapshot.handEdits.announced)
      if (leftOver.length === 0) return snapshot
      await files.install(leftOver)
      return reader.read()
    }
  }

  /** Before another change. If the record must be completed later, that other change is still not made. */
  async function recordFirst(): Promise<void> {
    await recordHandEdits().catch((error: unknown) => {
      if (!(error instanceof MemoryWriteError)) throw error
      throw new MemoryWriteError({ location: files.location, state: "unchanged", cause: error.cause })
    })
  }

  /** A reader goes on where nothing can be written: edits made by hand are read from their files, and recorded later. */
  async function settledNow(): Promise<Snapshot> {
    if (readOnly) return reader.read()
    return retried(recordHandEdits).catch((error: unknown) => {
      if (!(error instanceof MemoryWriteError)) throw error
      return reader.read()
    })
  }

  const indexes = new WeakMap<Snapshot, LoadedIndex>()
  let last: Snapshot | undefined

  /** One look after another: what is reported to one look is not reported again. */
  const looks = new Queue()

  function settled(): Promise<Snapshot> {
    return watch ? looks.run(() => lookAgain(watch)) : settledNow()
  }

  async function lookAgain(reported: MemoryFilesWatch): Promise<Snapshot> {
    if ((await reported.isUnchanged()) && last) return last
    await reported.follow(followedIn(last)) // before they are read, or a change in between would be missed
    do last = await settledNow()
    while (!(await reported.follow(followedIn(last))))
    return last
  }

  function mustBeWritable(): void {
    if (readOnly) throw historyError(`The memory in ${files.location} is opened for reading only. Nothing was changed.`)
  }

  async function change(proposal: MemoryProposal): Promise<MemoryChange | undefined> {
    mustBeWritable()
    return retried(async () => {
      await recordFirst()
      const snapshot = await reader.read()
      const now = clock.now()
      const plan = await planProposal({ snapshot, proposal, now })
      const { by, why, source } = proposal
      return commit({ files, reader, snapshot, now, plan: { by, why, ...(source ? { source } : {}), ...plan } })
    })
  }

  async function changeOf(id: string): Promise<MemoryChange> {
    const { changes } = await loadChanges(files)
    const change = changes.find((one) => one.id === id)
    if (change) return change
    throw historyError(
      `There is no change ${JSON.stringify(id.slice(0, 40))} in the history of ${files.location}, or its record is damaged. Nothing was changed. List the history to see the numbers.`,
    )
  }

  return {
    location: files.location,
    ...(files.directory === undefined ? {} : { directory: files.directory }),

    async all() {
      return (await settled()).memories
    },
    async get(file) {
      return (await settled()).memories.find((memory) => memory.file === file)
    },
    async text(file) {
      return (await settled()).texts.get(file)
    },
    async index() {
      const snapshot = await settled()
      const index = indexes.get(snapshot) ?? indexOf(snapshot)
      indexes.set(snapshot, index)
      return index
    },

    change,

    async confirm(file) {
      const memory = (await settled()).memories.find((one) => one.file === file)
      if (!memory || isUserMemory(memory)) return undefined
      const source = { ...memory.source, confirmed: true } as const
      const put = { ...memory, source, confirmed: dayOf(clock.now()) }
      return change({ by: "person", why: "Confirmed by the user", puts: [put] })
    },

    async record(edits) {
      mustBeWritable()
      // hand edits of other files are recorded with the next reading
      return retried(async () => {
        const [snapshot, now] = [await reader.read(), clock.now()]
        const plan = await planToolEdits({ files, snapshot, edits, now })
        return commit({ files, reader, snapshot, plan, now })
      })
    },

    async history() {
      await settled()
      return (await loadChanges(files)).changes
    },

    async diff(id) {
      const textOf = async (copy: string | undefined) => (copy ? readCopy(files, copy) : undefined)
      const patches = (await changeOf(id)).files.map(async ({ path, before, after }) =>
        patchOf(path, await textOf(before), await textOf(after)),
      )
      return (await Promise.all(patches)).join("")
    },

    async revert(id, { by = "person", why } = {}) {
      mustBeWritable()
      return retried(async () => {
        await recordFirst()
        const snapshot = await reader.read()
        const change = await changeOf(id)
        const plan = await planRevert({ files, snapshot, change })
        const reason = why ?? `Took back change ${id}: ${change.why}`
        return commit({ files, reader, snapshot, now: clock.now(), plan: { by, why: reason, reverts: id, ...plan } })
      })
    },

    async erase(file) {
      mustBeWritable()
      return retried(async () => {
        await recordFirst()
        const plan = await planErasure({ files, snapshot: await reader.read(), file, now: clock.now() })
        if (!plan) return undefined
        await files.install(plan.writes, { forGood: true })
        removeSearchIndex(files)
        return { changes: plan.changes }
      })
    },

    earlierText: (hash) => readCopy(files, hash),
    isCommandRunning: () => isCommandRunning(files),

    async problems() {
      const { problems } = await settled()
      return [...problems, ...(await loadChanges(files)).problems, ...((await files.problems?.()) ?? [])]
    },
  }
}

function indexOf({ texts, memories, loaded }: Snapshot): LoadedIndex {
  const text = texts.get(INDEX_FILE) ?? updateIndex({ text: undefined, memories })
  const lines = new Set(loaded.head.files[INDEX_FILE]?.lines)
  const own = ownIndex({ text, memories, lines })
  // a line that was made from its memory has no secret
  return loadedIndex(lines.size === 0 ? own : maskSecrets(own))
}

/** Of the history, only its head says that something changed. */
const followedIn = (snapshot: Snapshot | undefined): readonly string[] => [HEAD, ...(snapshot?.texts.keys() ?? [])]

/** It has the texts of memories, and is built again. */
function removeSearchIndex({ directory }: MemoryFiles): void {
  if (directory !== undefined) removeDatabase(join(directory, SEARCH_INDEX))
}

// Brings the search index that a store keeps up to date after conversations were erased: it holds the same words.

/** Also what a process left that was killed after it erased, and indexes that no one asks any more. */
export async function updateSearch(store: Store): Promise<void> {
  for (const address of (await store.outdatedShelves?.()) ?? []) {
    const { project, under, only, tokens } = address
    if (only !== undefined || tokens !== TOKENS_VERSION) {
      await store.passages!(address).clear() // of one conversation, or of another version: it is built again where it is used
      continue
    }
    const search = journalSearchIn(store, under === undefined ? { project } : { project, under })
    try {
      await search.update() // looking again takes out what is gone, as for every process that searches
    } finally {
      search.close()
    }
  }
}
