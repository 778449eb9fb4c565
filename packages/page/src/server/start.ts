/** Starts the page server: on loopback, on a free port, with a new secret. */
import { serve } from "@hono/node-server"
import type { Clock } from "@strata/core"
import { errorKind, systemClock } from "@strata/core/base"
import type { LoadedConversation } from "../live/find.ts"
import { LiveConversation } from "../live/live-conversation.ts"
import { fileSource, journalSource } from "../live/live-source.ts"
import type { NamedConversation, PageSource } from "../live/source.ts"
import { createPageAccess } from "./access.ts"
import { pageApp } from "./app.ts"
import type { Conversations } from "./conversation-routes.ts"

export {
  ConversationIndex,
  type ConversationIndexOptions,
  type IndexedConversation,
} from "../live/conversation-index.ts"
export type { JournalLocation, TranscriptLocation } from "../live/live-source.ts"
export type {
  BackgroundWork,
  ConversationActions,
  ConversationUsage,
  ListedConversation,
  ListPages,
  NamedConversation,
  PageSource,
  UsagePages,
  WorkPages,
} from "../live/source.ts"

const LOOPBACK = "127.0.0.1"
/**
 * The browser closes idle connections. If the server did so after Node's 5 seconds, it would reset one whose next request is already on
 * its way, most often while it is busy reading a thousand conversations.
 */
const SERVER_OPTIONS = { keepAliveTimeout: 0 }
const MAX_OPEN = 6 // conversations in memory; each is as large as its journal

export interface PageOptions {
  readonly source: PageSource
  /** Default: a free port. */
  readonly port?: number
  /** Default: the system clock. */
  readonly clock?: Clock
  /** Receives internal errors; the user sees a sentence. Default: a warning of the process. */
  readonly onFault?: (error: unknown) => void
}

export interface RunningPage {
  /** URL of the first page. It contains the secret, so it must not be shared. */
  readonly address: string
  /** URL of one conversation, with the secret. */
  addressOf(id: string): string
  /** URL for a program that opens it. It works once, because others can read the program's arguments. */
  addressOnce(id?: string): string
  close(): Promise<void>
}

const warn = (error: unknown): void => process.emitWarning(`A page failed: ${errorKind(error)}`)

export async function startPage({
  source,
  port = 0,
  clock = systemClock,
  onFault = warn,
}: PageOptions): Promise<RunningPage> {
  let listening = port
  const access = createPageAccess({ port: () => listening })
  const conversations = new OpenConversations(source, clock)
  const app = pageApp({ source, access: access, conversations, now: () => clock.now(), onFault })
  const server = await new Promise<ReturnType<typeof serve>>((resolve, reject) => {
    const started = serve({ fetch: app.fetch, hostname: LOOPBACK, port, serverOptions: SERVER_OPTIONS }, (info) => {
      listening = info.port
      resolve(started)
    })
    started.on("error", reject)
  })
  const origin = `http://${LOOPBACK}:${listening}`
  const to = (id: string | undefined) => (id === undefined ? "" : `&to=${encodeURIComponent(id)}`)
  return {
    address: `${origin}${access.entryPath}`,
    addressOf: (id) => `${origin}${access.entryPath}${to(id)}`,
    addressOnce: (id) => `${origin}${access.oneTimeEntryPath()}${to(id)}`,
    close: () =>
      new Promise((resolve) => {
        conversations.close()
        server.close(() => resolve())
        if ("closeAllConnections" in server) server.closeAllConnections()
      }),
  }
}

/** Caches the most recently used conversations, so that further requests do not read them again. */
class OpenConversations implements Conversations {
  readonly #source: PageSource
  readonly #clock: Clock
  readonly #open = new Map<string, Promise<LoadedConversation | undefined>>()

  constructor(source: PageSource, clock: Clock) {
    this.#source = source
    this.#clock = clock
  }

  async open(id: string): Promise<LoadedConversation | undefined> {
    const known = this.#open.get(id)
    this.#open.delete(id)
    const opening = known ?? this.#read(id)
    this.#open.set(id, opening)
    // pages that still listen to a removed conversation continue to receive its events
    for (const other of this.#open.keys()) if (this.#open.size > MAX_OPEN) this.#open.delete(other)
    const found = await opening.catch((error: unknown) => {
      this.#open.delete(id)
      throw error
    })
    if (!found) this.#open.delete(id)
    else if (known) await found.live.update()
    return found
  }

  async #read(id: string): Promise<LoadedConversation | undefined> {
    const named = await this.#named(id)
    if (!named) return undefined
    const { location } = named
    const source = "store" in location ? journalSource(location, this.#clock) : fileSource(location, this.#clock)
    return { named, live: await LiveConversation.open(source) }
  }

  /** Finds a conversation by id. An agent's conversation has the id of its lead, `~` and its own id. */
  async #named(id: string): Promise<NamedConversation | undefined> {
    const [lead = "", name] = id.split("~")
    const named = await this.#source.find(lead)
    if (name === undefined) return named
    if (!named?.actions || !("store" in named.location)) return undefined
    const { store, address } = named.location
    const agent = (await (await named.actions.agents()).list()).find((each) => each.id === name)
    const location = { store, address: { project: address.project, under: address.id, id: name } }
    return agent && { id, title: `${agent.name} for ${named.title}`, location }
  }

  close(): void {
    for (const opening of this.#open.values()) void opening.then((found) => found?.live.close()).catch(() => undefined)
    this.#open.clear()
  }
}
