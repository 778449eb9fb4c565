/**
 * A memory bank: the memories of one namespace, changed atomically, with a history. Manual edits are recorded as the user's before
 * anything else happens. No secret is written, and tool output never becomes a rule.
 *
 * `changes/`: read a snapshot, plan, merge, commit to the history. `facts/`: which facts memories state, and which contradict each
 * other.
 */

import { join } from "node:path"
import { type Clock, systemClock, utcDay } from "../base/clock.ts"
import { MemoryChangedError, MemoryWriteError } from "../base/errors.ts"
import { maskSecrets } from "../base/secrets/find-secrets.ts"
import { SerialQueue } from "../base/work.ts"
import type { MemoryFiles, MemoryFilesWatch } from "../journal/memory-files.ts"
import type { Store } from "../journal/store.ts"
import { removeDatabase } from "../recall/index/index-file.ts"
import { TOKENS_VERSION } from "../recall/index/tokens.ts"
import { journalSearchIn } from "../recall/journal-search.ts"
import { commit } from "./changes/commit.ts"
import { planErasure } from "./changes/erase.ts"
import { HEAD, historyError, loadChanges, readCopy } from "./changes/history.ts"
import { isCommandRunning, removalsOfStale } from "./changes/manual-edits.ts"
import { createPatch } from "./changes/merge.ts"
import { planProposal, planRevert } from "./changes/plan-change.ts"
import { planManualEdits, planToolEdits } from "./changes/plan-record.ts"
import { type Snapshot, SnapshotReader } from "./changes/snapshot.ts"
import { INDEX_FILE, SEARCH_INDEX } from "./file-names.ts"
import { type LoadedIndex, loadedIndex, trustedIndex, updateIndex } from "./index-file.ts"
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
  /** Writes nothing, not even manual edits into the history. */
  readonly readOnly?: boolean
  /** Reports whether the files may have changed. Without it, each read checks all files. The caller closes it. */
  readonly watch?: MemoryFilesWatch
}

/** The memories of one namespace, with their history. */
export interface MemoryBank {
  /** The location as shown to the user. */
  readonly location: string
  /** The directory, if the store keeps files. */
  readonly directory?: string
  /** All memories, including superseded ones, sorted by file. */
  all(): Promise<readonly Memory[]>
  get(file: string): Promise<Memory | undefined>
  /** The exact text of a memory or of the index. */
  text(file: string): Promise<string | undefined>
  /** @internal The index as it is loaded at the start of a conversation. */
  index(): Promise<LoadedIndex>
  /** Makes one change of any number of files. Undefined if everything is already as proposed. */
  change(proposal: MemoryProposal): Promise<MemoryChange | undefined>
  /**
   * Records that the user confirmed a memory, which from then on is the user's. Undefined if there is no such memory, or if it is the
   * user's already.
   */
  confirm(file: string): Promise<MemoryChange | undefined>
  /**
   * @internal Records in the history what file tools have just written. Announce the write first, so that it is not taken for the
   * user's.
   */
  record(edits: MemoryToolEdits): Promise<MemoryChange | undefined>
  /** All changes, oldest first. */
  history(): Promise<readonly MemoryChange[]>
  /** A change as a unified diff. */
  diff(id: string): Promise<string>
  /** Reverts a change by a new change. Edits made since in other lines are preserved. */
  revert(id: string, options?: { readonly by?: MemoryAuthor; readonly why?: string }): Promise<MemoryChange | undefined>
  /**
   * Erases a memory permanently: the file, its archived copies, and everything about it in the history. This cannot be undone.
   * Undefined if no file and no change has this name.
   */
  erase(file: string): Promise<{ readonly changes: number } | undefined>
  /** @internal A text from the history, by its hash. */
  earlierText(hash: string): Promise<string>
  /** Whether an agent in another process is running a command. Its edits may not be the user's. */
  isCommandRunning(): Promise<boolean>
  /** Problems of the files, one sentence each. */
  problems(): Promise<readonly string[]>
}

export function openBank({ files, clock = systemClock, readOnly = false, watch }: BankOptions): MemoryBank {
  const reader = new SnapshotReader(files, { readOnly })

  /** Repeats work that failed because another process made a change first. */
  async function retryOnConflict<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof MemoryChangedError) || attempt >= MAX_ATTEMPTS) throw error
      }
    }
  }

  /** Records edits that were made without the bank, as one change for each origin. */
  async function recordManualEdits(): Promise<Snapshot> {
    for (;;) {
      const snapshot = await reader.read()
      const plan = await planManualEdits({ files, snapshot })
      const change = plan && (await commit({ files, reader, snapshot, plan, now: clock.now() }))
      if (change) continue
      const leftOver = removalsOfStale(snapshot.manualEdits.announced)
      if (leftOver.length === 0) return snapshot
      await files.install(leftOver)
      return reader.read()
    }
  }

  /** Records manual edits before another change. If recording fails, that change is not made either. */
  async function recordBeforeChange(): Promise<void> {
    await recordManualEdits().catch((error: unknown) => {
      if (!(error instanceof MemoryWriteError)) throw error
      throw new MemoryWriteError({ location: files.location, state: "unchanged", cause: error.cause })
    })
  }

  /** Reading also works where nothing can be written: manual edits are read from their files, and recorded later. */
  async function readSettled(): Promise<Snapshot> {
    if (readOnly) return reader.read()
    return retryOnConflict(recordManualEdits).catch((error: unknown) => {
      if (!(error instanceof MemoryWriteError)) throw error
      return reader.read()
    })
  }

  const indexes = new WeakMap<Snapshot, LoadedIndex>()
  let last: Snapshot | undefined

  /** Scans run serially, so that each change is reported once. */
  const scans = new SerialQueue()

  function settled(): Promise<Snapshot> {
    return watch ? scans.run(() => rescan(watch)) : readSettled()
  }

  async function rescan(reported: MemoryFilesWatch): Promise<Snapshot> {
    if ((await reported.isUnchanged()) && last) return last
    await reported.follow(watchedPaths(last)) // before the files are read, or a change in between would be missed
    do last = await readSettled()
    while (!(await reported.follow(watchedPaths(last))))
    return last
  }

  function mustBeWritable(): void {
    if (readOnly) throw historyError(`The memory in ${files.location} is opened for reading only. Nothing was changed.`)
  }

  async function change(proposal: MemoryProposal): Promise<MemoryChange | undefined> {
    mustBeWritable()
    return retryOnConflict(async () => {
      await recordBeforeChange()
      const snapshot = await reader.read()
      const now = clock.now()
      const plan = await planProposal({ snapshot, proposal, now })
      const { by, why, source } = proposal
      return commit({ files, reader, snapshot, now, plan: { by, why, ...(source ? { source } : {}), ...plan } })
    })
  }

  async function findChange(id: string): Promise<MemoryChange> {
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
      const index = indexes.get(snapshot) ?? trustedIndexOf(snapshot)
      indexes.set(snapshot, index)
      return index
    },

    change,

    async confirm(file) {
      const memory = (await settled()).memories.find((one) => one.file === file)
      if (!memory || isUserMemory(memory)) return undefined
      const source = { ...memory.source, confirmed: true } as const
      const put = { ...memory, source, confirmed: utcDay(clock.now()) }
      return change({ by: "person", why: "Confirmed by the user", puts: [put] })
    },

    async record(edits) {
      mustBeWritable()
      // manual edits of other files are recorded with the next read
      return retryOnConflict(async () => {
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
      const patches = (await findChange(id)).files.map(async ({ path, before, after }) =>
        createPatch(path, await textOf(before), await textOf(after)),
      )
      return (await Promise.all(patches)).join("")
    },

    async revert(id, { by = "person", why } = {}) {
      mustBeWritable()
      return retryOnConflict(async () => {
        await recordBeforeChange()
        const snapshot = await reader.read()
        const change = await findChange(id)
        const plan = await planRevert({ files, snapshot, change })
        const reason = why ?? `Took back change ${id}: ${change.why}`
        return commit({ files, reader, snapshot, now: clock.now(), plan: { by, why: reason, reverts: id, ...plan } })
      })
    },

    async erase(file) {
      mustBeWritable()
      return retryOnConflict(async () => {
        await recordBeforeChange()
        const plan = await planErasure({ files, snapshot: await reader.read(), file, now: clock.now() })
        if (!plan) return undefined
        await files.install(plan.writes, { permanent: true })
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

function trustedIndexOf({ texts, memories, loaded }: Snapshot): LoadedIndex {
  const text = texts.get(INDEX_FILE) ?? updateIndex({ text: undefined, memories })
  const lines = new Set(loaded.head.files[INDEX_FILE]?.lines)
  const own = trustedIndex({ text, memories, lines })
  // lines generated from memories contain no secrets, so only the user's lines are masked
  return loadedIndex(lines.size === 0 ? own : maskSecrets(own))
}

/** Of the history, only the head is watched: it changes with every recorded change. */
const watchedPaths = (snapshot: Snapshot | undefined): readonly string[] => [HEAD, ...(snapshot?.texts.keys() ?? [])]

/** The index contains texts of memories. It is rebuilt when it is needed. */
function removeSearchIndex({ directory }: MemoryFiles): void {
  if (directory !== undefined) removeDatabase(join(directory, SEARCH_INDEX))
}

// Updates the search indexes of a store after conversations were erased, because they contain the same text.

/** Covers indexes that nobody queries any more, and those of a process that was killed after it erased. */
export async function updateSearchIndexes(store: Store): Promise<void> {
  for (const address of (await store.outdatedPassages?.()) ?? []) {
    const { project, under, only, tokens } = address
    if (only !== undefined || tokens !== TOKENS_VERSION) {
      await store.passages!(address).clear() // index of one conversation, or of another version: rebuilt where it is used
      continue
    }
    const search = journalSearchIn(store, under === undefined ? { project } : { project, under })
    try {
      await search.update() // an update removes what was deleted, as in every process that searches
    } finally {
      search.close()
    }
  }
}
