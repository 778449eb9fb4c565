/** Background work of a project in all processes of this machine: its dream, sub-agents, and requests of the layers. */
import { type FSWatcher, watch } from "node:fs"
import { join } from "node:path"
import { localUser, type Owner, openMemoryBank, type Store, type StoredConversation } from "@strata/core"
import { openAgentDirectory } from "@strata/core/agent"
import type { SentRequest } from "@strata/core/store"
import { journalDirectoryIn } from "@strata/core/store"
import type { BackgroundWork, WorkPages } from "@strata/page/server"
import type { CommandCall } from "../command.ts"

const SETTLE_MS = 200 // several files change together
const POLL_MS = 5_000 // detects killed processes, which write nothing
/** Requests that are not listed, because the conversation, a dream or an agent shows them. */
const OTHER_PURPOSES: ReadonlySet<SentRequest["purpose"]> = new Set(["main", "agent", "progress", "dream"])

/** A conversation that was not written for this long has no background work. */
const QUIET_MS = 24 * 60 * 60 * 1_000

export interface ProjectWorkOptions extends Pick<CommandCall, "cwd" | "env"> {
  readonly store: Store
  readonly owner?: Owner
  readonly conversations: () => Promise<readonly StoredConversation[]>
  readonly titleOf: (conversation: StoredConversation) => string
}

export async function projectWork(place: ProjectWorkOptions): Promise<WorkPages> {
  const { cwd, env, store, owner = localUser, conversations, titleOf } = place
  const bank = await openMemoryBank({ cwd, env, owner, readOnly: true })

  async function workOf(conversation: StoredConversation): Promise<readonly BackgroundWork[]> {
    const agents = await openAgentDirectory(conversation, { env })
    if (!(await agents.isOpen())) return [] // a killed process leaves entries that are not running work
    const at = { id: conversation.id, title: titleOf(conversation) }
    const listed = (await agents.hasAny()) ? await agents.list() : []
    return [
      ...listed
        .filter(({ status }) => status === "running")
        .map((agent): BackgroundWork => ({ kind: "agent", agent, conversation: at })),
      ...(await agents.inFlight())
        .filter(({ purpose }) => !OTHER_PURPOSES.has(purpose))
        .map((request): BackgroundWork => ({ kind: "request", request, conversation: at })),
    ]
  }

  const now = async (): Promise<readonly BackgroundWork[]> => {
    const [dream, all] = await Promise.all([bank.dream(), conversations()])
    const work: BackgroundWork[] = dream?.status === "running" ? [{ kind: "dream", dream }] : []
    const busy = all.filter(({ updated }) => Date.now() - Date.parse(updated) < QUIET_MS)
    return work.concat(...(await Promise.all(busy.map(workOf))))
  }

  /** Directories of journals and of dreams. Empty if the store has no files. */
  const directories = async () =>
    [...new Set((await conversations()).map(({ address }) => address.project))].flatMap((project) => {
      const directory = journalDirectoryIn(store, project)
      return directory === undefined ? [] : [directory, join(directory, "dreams")]
    })
  const watched = watchWork({ now, directories })
  return { now, stopDream: () => bank.stopDream(), onChange: (listener) => watched.onChange(listener) }
}

interface WatchOptions {
  readonly now: () => Promise<unknown>
  readonly directories: () => Promise<readonly string[]>
}

/** Reports changes of the work while there are listeners. Directories report most changes; slow polling finds the rest. */
function watchWork({ now, directories }: WatchOptions): Pick<WorkPages, "onChange"> {
  const listeners = new Set<() => void>()
  const watchers = new Map<string, FSWatcher>()
  let slow: NodeJS.Timeout | undefined
  let soon: NodeJS.Timeout | undefined
  let last: string | undefined

  async function look(): Promise<void> {
    soon = undefined
    const work = JSON.stringify(await now())
    for (const directory of await directories()) if (listeners.size > 0) follow(directory)
    if (last !== undefined && work !== last) for (const listener of listeners) listener()
    last = work
  }

  const lookSoon = () => {
    soon ??= setTimeout(() => void look().catch(() => undefined), SETTLE_MS).unref()
  }

  function follow(directory: string): void {
    if (watchers.has(directory)) return
    try {
      const watcher = watch(directory, { persistent: false }, lookSoon)
      watcher.on("error", () => {
        watcher.close()
        watchers.delete(directory)
      })
      watchers.set(directory, watcher)
    } catch {} // the directory does not exist yet; polling tries again
  }

  function end(): void {
    for (const watcher of watchers.values()) watcher.close()
    watchers.clear()
    clearInterval(slow)
    clearTimeout(soon)
    slow = soon = last = undefined
  }

  return {
    onChange(listener) {
      listeners.add(listener)
      slow ??= setInterval(lookSoon, POLL_MS).unref()
      lookSoon()
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) end()
      }
    },
  }
}
