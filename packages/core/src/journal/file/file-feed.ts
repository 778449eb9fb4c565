/**
 * The journals of a directory as they grow. While the system reports what changed, only that is looked at. So are
 * journals that someone has open and the ones written last: another machine may write them.
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
/** Journals that are looked at each time even if no one has them open: they were written last. */
const RECENT = 16
/** Journals that someone has open, maybe on another machine. */
const MAX_LOCKED = 32
/** More that were written since are no longer a few. */
const MAX_GROWING = 100
/** A write that no one reported is noticed after this. */
const FULL_POLL_MS = 60_000
/** The times of a directory have steps. A change in the same step as the look before would not show. */
const TIME_STEP_MS = 50

interface PollState {
  /** The directory's own time: it changes when a file is added, removed or locked. */
  readonly changed: bigint
  readonly at: number
  /** The journals that may grow without a report. */
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
    // where the directory changed and no one reported it, others write who cannot be heard
    if (last && now - last.at < FULL_POLL_MS && (isSame || (reported && reported.size > 0))) {
      const names = [...(reported ?? [])]
      const told = names.flatMap((name) => [
        ...withoutExtension(name, EXTENSION),
        ...withoutExtension(name, LOCK_EXTENSION),
      ])
      if (told.length <= MAX_GROWING) {
        const looked = [...new Set([...last.growing, ...told, ...unread])]
        const journals = this.#sizes(looked)
        this.#last = { ...last, changed, growing: last.growing.filter((id) => journals.has(id)) }
        return { journals, isAll: false, deleted: looked.filter((id) => !journals.has(id)) }
      }
    }
    const names = changed === 0n ? [] : readdirSync(this.directory)
    const journals = this.#sizes(names.flatMap((name) => withoutExtension(name, EXTENSION)))
    const locked = names.flatMap((name) => withoutExtension(name, LOCK_EXTENSION))
    // a server has thousands open, and its own writes are reported
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
      const file = statSync(this.#file(id), { throwIfNoEntry: false }) // it may be deleted since
      return file?.isFile() ? [[id, { bytes: file.size, touched: file.mtimeMs }] as const] : []
    })
    return new Map(sizes.sort(([, a], [, b]) => b.touched - a.touched))
  }
}

const withoutExtension = (name: string, extension: string): readonly string[] =>
  name.endsWith(extension) ? [name.slice(0, -extension.length)] : []
