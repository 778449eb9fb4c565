/** The conversations of clients: each request finds its own, which is opened when it is needed and closed when others need the room. */
import { join } from "node:path"
import {
  type Conversation,
  type ConversationOptions,
  type ModelFacts,
  memoryStore,
  openConversation,
  type SettingsInput,
  type Store,
} from "@strata/core"
import { kindOfError } from "@strata/core/internal/base/errors"
import { projectName, randomIds } from "@strata/core/internal/base/ids"
import { placeFor } from "@strata/core/internal/base/owner"
import { Callers, type FoundConversation } from "@strata/core/internal/conversation/follow/callers"
import { givenMessages, keepingReader, matched } from "@strata/core/internal/conversation/follow/match"
import { callerLog } from "@strata/core/internal/journal/file/caller-log"
import { defaultRoot, journalDirectory } from "@strata/core/internal/journal/file/layout"
import { MOST_RESULT_CHARACTERS } from "@strata/core/internal/settings/flag-client"
import { findModel } from "@strata/core/internal/tokens/models"
import type { ClientRequest, ConversationStatus, Manager, Plan } from "../manager.ts"
import { asClient, type LastRequest } from "./as-client.ts"
import { type Client, clientOf, isAside } from "./client-identity.ts"
import { canReadFiles, FILE_READERS } from "./client-tools.ts"
import { ManagedConversation, type PauseNotice } from "./managed-conversation.ts"
import { OtherRequests } from "./other-requests.ts"
import { rehearsedRequest } from "./rehearsed-request.ts"

export interface ConversationsOptions {
  /** Where requests of our own go: the same server. */
  readonly upstream: string
  /** The project's directory, which says where journals are kept. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly dir?: string
  /** Nothing is changed. */
  readonly observe?: boolean
  readonly settings?: SettingsInput
  readonly clock?: NonNullable<ConversationOptions["clock"]>
  readonly log?: (line: string) => void
  /** Asked before the first request after a pause that cost the server's cache. With `false` the request is not sent. */
  readonly onPause?: (notice: PauseNotice) => Promise<boolean>
}

/**
 * What pays in front of a client's server. Notes, memories and second tries of a summary are requests that the client's bill does not show, so they are
 * off. The client says how long caches live.
 */
export const BEHIND_A_CLIENT: SettingsInput = {
  cacheLifetime: "5m",
  flush: "never", // the client has every message: after a power cut it sends them again
  switches: { notes: false, "auto-memory": false, "memory-recall": false, dreaming: false },
  // results stay up to 50,000 characters, as elsewhere: by `npm run put-aside` smaller sizes save 2% at most, and the model would have to ask
  // for files outside the project
  figures: { "audit-coverage": 0, "audit-fabrication": 100 },
  // what shows files cuts itself, and shows what was put aside
  toolResultLimits: Object.fromEntries(FILE_READERS.map((name) => [name, MOST_RESULT_CHARACTERS])),
}

/** A model that cannot read files would never see what is in them. */
const KEEPS_RESULTS: SettingsInput = { switches: { "tool-result-storage": false } }

const MOST_CLOSED = 1_000 // rows that the status still shows
const MOST_OPEN = 100 // conversations; others are opened again when they are asked for

interface Open {
  readonly chat: Conversation
  readonly managed: ManagedConversation
  /** What it was opened with. */
  readonly model: string
  readonly readsFiles: boolean
}

export class Conversations implements Manager {
  readonly #options: ConversationsOptions
  readonly #callers: Callers
  /** Messages that a client sends again are the same objects. */
  readonly #read = keepingReader()
  readonly #open = new Map<string, Promise<Open>>()
  readonly #ready = new Map<string, ManagedConversation>()
  /** Requests that have found their conversation, and that it has not taken yet. */
  readonly #claims = new Map<string, number>()
  #finding: Promise<unknown> = Promise.resolve()
  readonly #closed = new Map<string, ConversationStatus>()
  /** Keys are in them: they are nowhere but here. */
  readonly #last = new Map<string, LastRequest>()
  readonly #others: OtherRequests

  constructor(options: ConversationsOptions) {
    this.#options = options
    this.#others = new OtherRequests({ isObserved: options.observe ?? false })
    const root = options.dir ?? defaultRoot(options.env)
    const log = callerLog(join(root, "callers", `${projectName(options.cwd)}.jsonl`))
    this.#callers = new Callers({ log, newId: () => randomIds.uuid(), read: this.#read })
  }

  /** Where the journals are. */
  get directory(): string {
    const { dir, env, cwd } = this.#options
    return journalDirectory(dir ?? defaultRoot(env), { project: placeFor(projectName(cwd), undefined) })
  }

  async take(request: ClientRequest): Promise<Plan> {
    const client = clientOf(request.headers, request.body)
    if (isAside(client, request.body)) return this.#others.plan(request.body)
    // its kind only: what an error says can quote the conversation
    return this.#planned(request, client).catch((error: unknown) =>
      this.#others.plan(request.body, `a failure (${kindOfError(error)})`),
    )
  }

  async #planned(request: ClientRequest, client: Client): Promise<Plan> {
    const messages = request.body.messages as never[]
    const found = await this.#found(client, messages)
    const plan = await this.#taken(found, { request, client })
    if (!plan) return this.#others.plan(request.body)
    return {
      ...plan,
      answered: async (message) => {
        const answer = { role: "assistant", content: message.content }
        const noted = this.#callers.note(found.conversation, client, [...messages, answer]).catch(() => undefined)
        await plan.answered(message)
        await noted
      },
    }
  }

  /**
   * Loads what a first request needs, and runs it once in a conversation that is kept nowhere. Call it when the proxy listens: a client
   * takes longer to start. Without it the first request does the same.
   */
  async warmUp(): Promise<void> {
    const asked = rehearsedRequest()
    const rehearse = async () => {
      const { chat, managed } = await this.#openOne(asked.id, { ...asked, readsFiles: true, store: memoryStore() })
      const { answered } = await managed.take(asked.request)
      await answered(asked.answer)
      await chat.close()
    }
    await Promise.allSettled([this.#callers.load(), rehearse()])
    this.#last.delete(asked.id)
  }

  async status(): Promise<readonly ConversationStatus[]> {
    const open = await Promise.allSettled(this.#open.values())
    const now = open.flatMap((each) => (each.status === "fulfilled" ? each.value.managed.status : []))
    const ids = new Set(now.map(({ id }) => id))
    return [...[...this.#closed.values()].filter(({ id }) => !ids.has(id)), ...now, ...this.#others.status]
  }

  /** @internal The conversations that are open now. */
  async open(): Promise<readonly Conversation[]> {
    const open = await Promise.allSettled(this.#open.values())
    return open.flatMap((each) => (each.status === "fulfilled" ? each.value.chat : []))
  }

  async close(): Promise<void> {
    for (const id of [...this.#open.keys()]) await this.#close(id)
    this.#last.clear()
  }

  /** One after another: of two that begin at once the second must see the first. */
  #found(client: Client, messages: readonly never[]): Promise<FoundConversation> {
    const finding = this.#finding.then(async () => {
      const found = await this.#callers.find(client, messages, (id) => this.#isBusy(id))
      this.#claims.set(found.conversation, (this.#claims.get(found.conversation) ?? 0) + 1)
      return found
    })
    this.#finding = finding.catch(() => undefined)
    return finding
  }

  /**
   * From here on the conversation itself says that it is busy. `undefined`: a question beside the conversation, since the answer that is on
   * its way belongs to another model.
   */
  async #taken({ conversation: id, fork }: FoundConversation, asked: Asked): Promise<Plan | undefined> {
    try {
      if (fork !== undefined) await this.#fork(fork, { to: id, ...asked })
      const { managed, model } = await this.#opened(id, asked)
      return model === String(asked.request.body.model) ? await managed.take(asked.request) : undefined
    } finally {
      const left = this.#claims.get(id)! - 1
      if (left > 0) this.#claims.set(id, left)
      else this.#claims.delete(id)
    }
  }

  #isBusy(id: string): boolean {
    return this.#claims.has(id) || (this.#ready.get(id)?.isBusy ?? false)
  }

  /** A list that begins like a known one, under another id: the journal so far is copied. */
  async #fork(from: string, { to, request, client }: { readonly to: string } & Asked): Promise<void> {
    // as it is, if it is open: an answer may be on its way, to another model
    const open = await this.#open.get(from)?.catch(() => undefined)
    const { chat } = open ?? (await this.#opened(from, { request, client }))
    const known = chat.views.followed.messages
    const { known: count } = matched(known, givenMessages(request.body.messages as never[], this.#read))
    const last = known[count - 1]
    if (last) await chat.branch(last.uuid, to).catch(() => undefined)
  }

  async #opened(id: string, asked: Asked): Promise<Open> {
    const model = String(asked.request.body.model)
    const readsFiles = canReadFiles(asked.request.body)
    const before = this.#open.get(id)
    const opening = (async () => {
      const known = await before?.catch(() => undefined)
      const isSame = known?.model === model && known.readsFiles === readsFiles
      if (known && (isSame || known.managed.isBusy)) return known // never in the middle of an answer
      if (known) await this.#shut(id, known)
      return this.#openOne(id, { ...asked, model, readsFiles })
    })()
    this.#open.delete(id) // the newest is last
    this.#open.set(id, opening)
    opening.catch(() => {
      if (this.#open.get(id) !== opening) return
      this.#open.delete(id)
      this.#last.delete(id)
    })
    await this.#makeRoom()
    return opening
  }

  async #openOne(id: string, { request, client, model, readsFiles, store }: ToOpen): Promise<Open> {
    const { upstream, cwd, env, dir, observe = false, settings, clock, log = () => undefined } = this.#options
    this.#last.set(id, request)
    const off = observe ? { off: true } : {}
    const chat = await openConversation({
      id,
      model,
      client: asClient(upstream, () => this.#last.get(id)!),
      cwd,
      env,
      betas: betasIn(request),
      cacheBreakpoints: false,
      settings: merged(BEHIND_A_CLIENT, settings, readsFiles ? {} : KEEPS_RESULTS, off),
      ...(store ? { store } : dir ? { dir } : {}),
      ...(clock ? { clock } : {}),
    })
    chat.on("compaction", (each) => log(`${id}: compaction, ${"message" in each ? each.message : each.phase}`))
    chat.on("layerFailed", ({ layer, reason }) => log(`${id}: ${layer} failed, ${reason}`))
    const managed = new ManagedConversation({
      chat,
      client,
      facts: factsOf(chat, model),
      observes: observe,
      read: this.#read,
      earlier: this.#closed.get(id),
      now: () => clock?.now() ?? new Date(),
      onRequest: (last) => this.#last.set(id, last),
      log,
      onPause: this.#options.onPause,
    })
    this.#ready.set(id, managed)
    return { chat, managed, model, readsFiles }
  }

  async #makeRoom(): Promise<void> {
    for (const [id, opening] of this.#open) {
      if (this.#open.size <= MOST_OPEN) return
      const open = await opening.catch(() => undefined)
      if (open && !this.#isBusy(id)) await this.#close(id)
    }
  }

  async #close(id: string): Promise<void> {
    const open = await this.#open.get(id)?.catch(() => undefined)
    this.#open.delete(id)
    if (open) await this.#shut(id, open)
  }

  async #shut(id: string, { chat, managed }: Open): Promise<void> {
    this.#ready.delete(id)
    await chat.close()
    this.#closed.delete(id) // the newest is last
    this.#closed.set(id, managed.status) // what was under way has its price now
    for (const [oldest] of this.#closed) if (this.#closed.size > MOST_CLOSED) this.#closed.delete(oldest)
    this.#last.delete(id)
  }
}

interface Asked {
  readonly request: ClientRequest
  readonly client: Client
}

interface ToOpen extends Asked, Pick<Open, "model" | "readsFiles"> {
  /** Default: files. */
  readonly store?: Store
}

const factsOf = (chat: Conversation, model: string): ModelFacts => findModel(model, chat.settings.values.models).facts

function betasIn({ headers }: ClientRequest): string[] {
  const value = headers["anthropic-beta"]
  const all = Array.isArray(value) ? value.join(",") : (value ?? "")
  return all
    .split(",")
    .map((beta) => beta.trim())
    .filter((beta) => beta !== "")
}

/** Switches, figures and limits one by one, everything else as the last one says. */
function merged(...settings: readonly (SettingsInput | undefined)[]): SettingsInput {
  const all = settings.filter((each) => each !== undefined)
  const together = (part: "switches" | "figures" | "toolResultLimits") =>
    Object.assign({}, ...all.map((each) => each[part]))
  return {
    ...Object.assign({}, ...all),
    switches: together("switches"),
    figures: together("figures"),
    toolResultLimits: together("toolResultLimits"),
  }
}
