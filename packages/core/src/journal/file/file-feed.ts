/**
 * Tracks the growing journals of a directory. If the system reports changes, only the changed files are read, plus journals that a process
 * has open and the most recently written ones, because another machine may write to them.
 */
import { readdirSync, statSync } from "node:fs"
import { open } from "node:fs/promises"
import { sep } from "node:path"
import { isSafeId } from "../../base/clock.ts"
import type { AppendedLines, FeedLine, FeedPoll, JournalFeed, JournalSize } from "../store.ts"
import { onAppended } from "./guarded-writes.ts"
import { scanLines } from "./scan.ts"
import { FolderWatch } from "./watch.ts"

const EXTENSION = ".jsonl"
const LOCK_EXTENSION = ".lock"
/** Number of recently written journals that each poll checks even if no process has them open. */
const RECENT = 16
/** Maximum number of open journals to check in each poll. Another machine may have them open. */
const MAX_LOCKED = 32
/** With more reported changes than this, everything is polled. */
const MAX_GROWING = 100
/** Interval of full polls, which find writes that were not reported. */
const FULL_POLL_MS = 60_000
/** Granularity of directory times. A change in the same step as the previous poll would not be visible. */
const TIME_STEP_MS = 50

interface PollState {
  /** The directory's mtime, which changes when a file is added, removed or locked. */
  readonly changed: bigint
  readonly at: number
  /** Journals that may grow without a reported change. */
  readonly growing: readonly string[]
}

export class FileFeed implements JournalFeed {
  readonly directory: string
  readonly #watch: FolderWatch
  #last: PollState | undefined

  constructor(directory: string) {
    this.directory = directory
    this.#watch = new FolderWatch(directory)
  }

  forget(): void {
    this.#last = undefined
  }

  close(): void {
    this.forget()
    this.#watch.close()
  }

  async sizes(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, JournalSize>> {
    return this.#sizes([...ids])
  }

  async *lines(id: string, from: number): AsyncGenerator<FeedLine> {
    const handle = isSafeId(id) ? await open(this.#file(id)).catch(() => undefined) : undefined
    if (!handle) return
    try {
      yield* scanLines(handle, from, (await handle.stat()).size)
    } finally {
      await handle.close()
    }
  }

  onAppended(listener: (appended: AppendedLines) => void): () => void {
    return onAppended(this.directory, listener)
  }

  async poll(unread: ReadonlySet<string>): Promise<FeedPoll> {
    const reported = await this.#watch.changed()
    const changed = statSync(this.directory, { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? 0n
    const [now, last] = [performance.now(), this.#last]
    const isSame = last?.changed === changed
    // the directory changed without a report: other machines write to it
    if (last && now - last.at < FULL_POLL_MS && (isSame || (reported && reported.size > 0))) {
      const names = [...(reported ?? [])]
      const changedIds = names.flatMap((name) => [
        ...withoutExtension(name, EXTENSION),
        ...withoutExtension(name, LOCK_EXTENSION),
      ])
      if (changedIds.length <= MAX_GROWING) {
        const checked = [...new Set([...last.growing, ...changedIds, ...unread])]
        const journals = this.#sizes(checked)
        this.#last = { ...last, changed, growing: last.growing.filter((id) => journals.has(id)) }
        return { journals, isAll: false, deleted: checked.filter((id) => !journals.has(id)) }
      }
    }
    const names = changed === 0n ? [] : readdirSync(this.directory)
    const journals = this.#sizes(names.flatMap((name) => withoutExtension(name, EXTENSION)))
    const locked = names.flatMap((name) => withoutExtension(name, LOCK_EXTENSION))
    // a server has thousands of journals open, and its own writes are reported
    const elsewhere = locked.length <= MAX_LOCKED ? locked : []
    const growing = [...new Set([...[...journals.keys()].slice(0, RECENT), ...elsewhere])]
    const isSettled = reported !== undefined || Date.now() - Number(changed / 1_000_000n) > TIME_STEP_MS
    this.#last = { changed: isSettled ? changed : -1n, at: now, growing }
    return { journals, isAll: true, deleted: [] }
  }

  #file(conversation: string): string {
    return `${this.directory}${sep}${conversation}${EXTENSION}`
  }

  #sizes(ids: readonly string[]): ReadonlyMap<string, JournalSize> {
    const sizes = ids.filter(isSafeId).flatMap((id) => {
      const file = statSync(this.#file(id), { throwIfNoEntry: false }) // the file may have been deleted since
      return file?.isFile() ? [[id, { bytes: file.size, touched: file.mtimeMs }] as const] : []
    })
    return new Map(sizes.sort(([, a], [, b]) => b.touched - a.touched))
  }
}

const withoutExtension = (name: string, extension: string): readonly string[] =>
  name.endsWith(extension) ? [name.slice(0, -extension.length)] : []
