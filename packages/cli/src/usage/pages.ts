/**
 * Shows all conversations of this machine as pages. The contents of the index appear at once; reading and replaying continue in the
 * background.
 */
import { realpath } from "node:fs/promises"
import { basename, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { StrataError } from "@strata/core"
import { journalDirectoryIn, parseStoreUri, storeFrom, storeUri } from "@strata/core/store"
import { openUsage, type Usage, type UsageRow } from "@strata/page"
import type { JournalLocation, NamedConversation, PageSource, UsagePages } from "@strata/page/server"
import type { CommandCall } from "../command.ts"
import { projectSource } from "../dashboard/source.ts"
import { formatNumber, pluralize } from "../display/numbers.ts"
import { programCall } from "../program-call.ts"
import { showPages } from "../show-pages.ts"
import { startWorker } from "./workers.ts"

export interface UsagePagesOptions extends Pick<CommandCall, "cwd" | "env" | "terminal"> {
  readonly dirs: readonly string[]
  readonly port?: number | undefined
  readonly isQuiet: boolean
}

const PROGRESS_INTERVAL_MS = 1_000 // between two progress updates
const UPDATE_INTERVAL_MS = 30_000 // between two scans of the transcript directories

export async function showUsagePages({ cwd, env, dirs, terminal, port, isQuiet }: UsagePagesOptions): Promise<number> {
  const look = openUsage({ env, dirs, startWorker })
  const work = new BackgroundWork(look)
  const ended = work.run()
  try {
    return await showPages({ source: sourceOf(look, { work, cwd, env }), terminal, env, port, isQuiet })
  } finally {
    work.stop()
    await ended
    await look.close()
  }
}

/** Repeatedly reads new transcripts and replays conversations. */
class BackgroundWork implements Pick<UsagePages, "progress" | "onChange"> {
  readonly #look: Usage
  readonly #listeners = new Set<() => void>()
  readonly #end = new AbortController()
  #words: string | undefined = "Reading conversations."
  #soon: NodeJS.Timeout | undefined

  constructor(look: Usage) {
    this.#look = look
  }

  progress = (): string | undefined => this.#words

  onChange = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async run(): Promise<void> {
    const { signal } = this.#end
    while (!signal.aborted) {
      try {
        await this.#look.update(
          ({ done, of }) =>
            this.#say(done < of ? `Reading conversations: ${formatNumber(done)} of ${formatNumber(of)}.` : undefined),
          signal,
        )
      } catch (error) {
        if (!(error instanceof StrataError)) throw error // the store may be temporarily unavailable
        this.#say(`${error.message} What was read before is shown.`)
        await pause(UPDATE_INTERVAL_MS, undefined, { signal }).catch(() => undefined)
        continue
      }
      const { of, replayed } = this.#look.savings()
      let left = of - replayed
      const words = () =>
        left > 0 ? `Computing what Strata would have saved: ${pluralize(left, "conversation")} to go.` : undefined
      this.#say(words())
      await this.#look.replay({
        signal,
        isInBackground: true,
        onReplayed: () => {
          left--
          this.#say(words())
        },
      })
      this.#say(undefined)
      await pause(UPDATE_INTERVAL_MS, undefined, { signal }).catch(() => undefined) // aborted: the loop ends
    }
  }

  stop(): void {
    this.#end.abort()
    clearTimeout(this.#soon)
  }

  #say(words: string | undefined): void {
    this.#words = words
    if (this.#end.signal.aborted) return
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined
      for (const listener of this.#listeners) listener()
    }, PROGRESS_INTERVAL_MS)
  }
}

function sourceOf(
  look: Usage,
  { work, cwd, env }: Pick<CommandCall, "cwd" | "env"> & { readonly work: BackgroundWork },
): PageSource {
  const find = async (id: string): Promise<NamedConversation | undefined> => {
    const row = /^\d{1,15}$/.test(id) ? look.row(Number(id)) : undefined
    if (!row) return undefined
    const kept = row.program === "strata" ? await storedConversation(row, env) : undefined
    return { id, title: row.title ?? row.id, ...(kept ?? { location: { file: row.file, conversationId: row.id } }) }
  }
  return {
    name: "All conversations",
    conversations: async () => [],
    find,
    usage: {
      report: (filter) => look.report(filter),
      list: (request) => look.list(request),
      findDeletedSessions: () => look.findDeletedSessions(),
      progress: work.progress,
      onChange: work.onChange,
      strata: programCall({ cwd, env }),
    },
  }
}

/** The stored conversation of a journal, with the user's actions if its project still exists. */
async function storedConversation(
  { project, file }: UsageRow,
  env: CommandCall["env"],
): Promise<Pick<NamedConversation, "location" | "actions"> | undefined> {
  const stored = parseStoreUri(file)
  const source = project === undefined ? undefined : await projectSource({ cwd: project, env }).catch(() => undefined)
  const found = await source?.find(stored?.id ?? basename(file, ".jsonl"))
  if (found && "store" in found.location && (await isAt(found.location, file))) return found
  return stored && { location: { store: storeFrom({ env }), address: stored } }
}

/** Whether the journal is really stored at this file. Another file may claim the same project and id. */
async function isAt({ store, address }: JournalLocation, file: string): Promise<boolean> {
  if (parseStoreUri(file)) return storeUri(address) === file
  const directory = journalDirectoryIn(store, address.project)
  return directory !== undefined && isSameFile(join(directory, `${address.id}.jsonl`), file)
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => realpath(path).catch(() => undefined)))
  return a !== undefined && a === b
}
