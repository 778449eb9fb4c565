/** What works in the background of a project, in any process of this machine: its dream, sub-agents, and requests of the layers. */
import { type FSWatcher, watch } from "node:fs"
import { join } from "node:path"
import {
  agentsOf,
  type KeptConversation,
  localPerson,
  openMemoryBank,
  type SentRequest,
  strataDirectory,
} from "@strata/core"
import { journalPaths } from "@strata/core/internal/journal/file/layout"
import type { BackgroundWork, WorkPages } from "@strata/page/server"
import type { Call } from "../command.ts"

const SETTLE_MS = 200 // several files change at once
const LOOK_MS = 5_000 // a process that was killed writes nothing
/** The conversation itself, and what is shown as a dream or an agent. */
const SHOWN_ELSEWHERE: ReadonlySet<SentRequest["purpose"]> = new Set(["main", "agent", "progress", "dream"])

export interface WorkPlace extends Pick<Call, "cwd" | "env"> {
  readonly conversations: () => Promise<readonly KeptConversation[]>
  readonly titleOf: (conversation: KeptConversation) => string
}

export async function projectWork(place: WorkPlace): Promise<WorkPages> {
  const { cwd, env, conversations, titleOf } = place
  const root = strataDirectory(env)
  const bank = await openMemoryBank({ cwd, env, owner: localPerson, readOnly: true })

  async function workOf(conversation: KeptConversation): Promise<readonly BackgroundWork[]> {
    const agents = await agentsOf(conversation, { env })
    if (!(await agents.isOpen())) return [] // what a killed process left is no work
    const at = { id: conversation.id, title: titleOf(conversation) }
    const listed = (await agents.hasAny()) ? await agents.list() : []
    return [
      ...listed
        .filter(({ status }) => status === "running")
        .map((agent): BackgroundWork => ({ kind: "agent", agent, conversation: at })),
      ...(await agents.inFlight())
        .filter(({ purpose }) => !SHOWN_ELSEWHERE.has(purpose))
        .map((request): BackgroundWork => ({ kind: "request", request, conversation: at })),
    ]
  }

  const now = async (): Promise<readonly BackgroundWork[]> => {
    const [dream, all] = await Promise.all([bank.dream(), conversations()])
    const work: BackgroundWork[] = dream?.status === "running" ? [{ kind: "dream", dream }] : []
    for (const conversation of all) work.push(...(await workOf(conversation)))
    return work
  }

  /** Of journals, and of dreams: these are beside them. */
  const directories = async () =>
    (await conversations()).flatMap(({ address }) => {
      const { directory } = journalPaths(root, address)
      return [directory, join(directory, "dreams")]
    })
  const watched = watchedWork({ now, directories })
  return { now, stopDream: () => bank.stopDream(), onChange: (listener) => watched.onChange(listener) }
}

interface Watched {
  readonly now: () => Promise<unknown>
  readonly directories: () => Promise<readonly string[]>
}

/** Says when the work is another, as long as someone listens. Directories report changes; a slow look finds what they do not. */
function watchedWork({ now, directories }: Watched): Pick<WorkPages, "onChange"> {
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
    } catch {} // it is not there yet; the slow look tries again
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
      slow ??= setInterval(lookSoon, LOOK_MS).unref()
      lookSoon()
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) end()
      }
    },
  }
}
