/** The conversations of clients: each request finds its own, which is opened on demand and closed when there are too many. */

import type { Conversation, ConversationOptions, SettingsInput } from "@strata/core"
import type { Owner } from "@strata/core/base"
import { errorKind, errorMessage, errorReason, randomIds, SerialQueue } from "@strata/core/base"
import {
  createCachingReader,
  identifyMessages,
  internalsOf,
  isReadableList,
  type ListMatch,
  matchListsExactly,
  repeatsCalls,
} from "@strata/core/conversation"
import { RECALL_TOOL } from "@strata/core/recall"
import { MAX_RESULT_CHARACTERS } from "@strata/core/settings"
import type { Store } from "@strata/core/store"
import type { ModelFacts } from "@strata/core/tokens"
import { findModel } from "@strata/core/tokens"
import { ClientStorage } from "./client-storage.ts"
import { canReadFiles, FILE_READERS } from "./client-tools.ts"
import { ConversationFinder, type FoundConversation } from "./conversation-finder.ts"
import { ManagedConversation } from "./managed-conversation.ts"
import { mergeAnswers, wantsJson } from "./merged-answer.ts"
import { OtherRequests } from "./other-requests.ts"
import type { ApiBody, ConversationRequest, ConversationStatus, PauseNotice, RequestPlan } from "./plan.ts"
import { hasRecall, withRecall } from "./recall.ts"
import { WARM_UP_REQUEST, WARM_UP_RESPONSE } from "./warm-up-request.ts"

export interface ClientConversationsOptions {
  /** The project's directory, which determines where journals are stored. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly dir?: string
  /** Name of the project. Default: from the environment, the settings or the directory. */
  readonly project?: string
  /** Owner of the conversations. Without an owner there are no memories. */
  readonly owner?: Owner
  /** Changes no requests. */
  readonly observe?: boolean
  /**
   * Whether the model gets a tool to look up content that left the context. Default `true`: once something has left it. `"always"`: from
   * the first request on.
   */
  readonly recall?: boolean | "always"
  readonly settings?: SettingsInput
  readonly clock?: NonNullable<ConversationOptions["clock"]>
  /** Receives a line for each failure. */
  readonly log?: (line: string) => void
  /** Receives a line for each step of a compaction. */
  readonly onCompaction?: (line: string) => void
  /**
   * Called before the first request after a pause in which the server's cache expired. If it resolves to `false`, the request is not sent.
   */
  readonly onPause?: (notice: PauseNotice) => Promise<boolean>
}

/** How Strata's own requests are sent: like the client's last one, with its keys. */
export type StrataRequests<R> = (
  last: () => R,
) => Pick<ConversationOptions, "client"> & Partial<Pick<ConversationOptions, "model">>

/**
 * Settings for clients that keep their own list. Retries of a summary are off, because the client's bill does not show them. The client
 * decides how long caches live and whether thinking is visible.
 */
export const CLIENT_SETTINGS: SettingsInput = {
  cacheLifetime: "5m",
  flush: "never", // the client has every message and sends them again after a power failure
  switches: { dreaming: false, "summarized-thinking": false },
  // results stay up to 50,000 characters, as elsewhere: smaller limits save 2% at most (`npm run put-aside`), and the model would have to
  // request files outside the project
  figures: { "audit-coverage": 0, "audit-fabrication": 100 },
  // tools that show files limit their own results and are used to read offloaded ones
  toolResultLimits: Object.fromEntries([...FILE_READERS, RECALL_TOOL].map((name) => [name, MAX_RESULT_CHARACTERS])),
}

/** Memories require an owner. */
const NO_MEMORIES: SettingsInput = { switches: { "auto-memory": false, "memory-recall": false } }

/** A model that can neither read files nor use Recall could not access offloaded results. */
const NO_OFFLOADING: SettingsInput = { switches: { "tool-result-storage": false } }

const MAX_CLOSED = 1_000 // rows that the status still lists
const MAX_OPEN = 100 // conversations; others are opened again on demand

interface OpenConversation {
  readonly chat: Conversation
  readonly managed: ManagedConversation
  /** Parameters of the open conversation. */
  readonly model: string
  readonly canReadResults: boolean
}

export class ClientConversations<R extends ConversationRequest> {
  readonly #options: ClientConversationsOptions
  readonly #own: StrataRequests<R>
  readonly #storage: ClientStorage
  readonly #finder: ConversationFinder
  /** Reads messages; those that a client sends again are the same objects. */
  readonly #read = createCachingReader()
  readonly #open = new Map<string, Promise<OpenConversation>>()
  readonly #ready = new Map<string, ManagedConversation>()
  /** Number of requests by conversation that have been matched but not taken yet. */
  readonly #claims = new Map<string, number>()
  readonly #finding = new SerialQueue()
  #taking = 0
  readonly #closed = new Map<string, ConversationStatus>()
  /** Contains API keys, which are stored nowhere else. */
  readonly #last = new Map<string, R>()
  readonly #others: OtherRequests

  constructor(options: ClientConversationsOptions, own: StrataRequests<R>) {
    this.#options = options
    this.#own = own
    this.#others = new OtherRequests({ isObserved: options.observe ?? false })
    this.#storage = new ClientStorage(options)
    this.#finder = new ConversationFinder({ log: this.#storage.log, newId: () => randomIds.uuid(), read: this.#read })
  }

  /** Directory of the journals. */
  directory(): Promise<string> {
    return this.#storage.directory()
  }

  async take(request: R): Promise<RequestPlan> {
    this.#taking++
    return this.#planRequest(request)
      .catch((error: unknown) => {
        const reason = errorMessage(error)
        this.#log(`A request was sent unchanged: ${reason}`)
        // the server may see it, so only the kind of error: its message could quote the conversation
        return this.#others.plan(request.body, { passedThrough: `a failure (${errorKind(error)})`, reason })
      })
      .finally(() => this.#taking--)
  }

  /** Plans a request that is not part of a conversation. */
  planAside(request: R): RequestPlan {
    return this.#others.plan(request.body)
  }

  /** Plans a request whose messages cannot be parsed. The server judges it. */
  planUnreadable(request: R): RequestPlan {
    const reason = "The messages of a request cannot be read, so it was sent as it is."
    return this.#others.plan(request.body, { passedThrough: "messages that cannot be read", reason })
  }

  async #planRequest(request: R): Promise<RequestPlan> {
    const { client } = request
    const messages = request.body.messages as never[]
    if (!isReadableList(messages)) return this.planUnreadable(request)
    // a view has each call once, so the model would not see the result of the second
    if (repeatsCalls(identifyMessages(messages, this.#read)))
      return this.#others.plan(request.body, {
        passedThrough: "calls that share an id",
        reason: "Two calls in the list have the same id, so it was sent as it is.",
      })
    const { plan, conversation } = await this.#takeRequest(await this.#findConversation(request), request)
    if (!plan) return this.#others.plan(request.body)
    const before: ApiBody[] = []
    return {
      ...plan,
      again: async (answer) => {
        const next = await plan.again(answer)
        if (next) before.push(answer)
        return next
      },
      answered: async (answer) => {
        const splicing = { tool: plan.hiddenTool ?? "", isJson: wantsJson(request.body) }
        const { content } = plan.hiddenTool ? mergeAnswers(before, answer, splicing) : answer
        const noted = this.#finder
          .note(conversation, client, [...messages, { role: "assistant", content }])
          .catch((error: unknown) =>
            this.#log(`${conversation}: not noted for the next process, ${errorReason(error)}`),
          )
        await plan.answered(answer)
        await noted
      },
    }
  }

  /**
   * Loads the code for the first request and runs it once in a temporary conversation in memory. Call it once the adapter is ready: clients
   * take longer to start. Otherwise the first request does the same. `asIf` creates a request of the client's kind.
   */
  async warmUp(asIf: (request: ConversationRequest) => R): Promise<void> {
    const request = asIf(WARM_UP_REQUEST)
    const id = "rehearsed"
    const rehearse = async () => {
      const { memoryStore } = await import("@strata/core")
      const how = { model: String(request.body.model), canReadResults: true, store: memoryStore() }
      const { chat, managed } = await this.#openOne(id, request, how)
      const { answered } = await managed.take(request)
      await answered(WARM_UP_RESPONSE)
      await chat.close()
    }
    await Promise.allSettled([this.#finder.load(), rehearse()])
    this.#last.delete(id)
  }

  async status(): Promise<readonly ConversationStatus[]> {
    const open = await Promise.allSettled(this.#open.values())
    const now = open.flatMap((each) => (each.status === "fulfilled" ? each.value.managed.status : []))
    const ids = new Set(now.map(({ id }) => id))
    return [...[...this.#closed.values()].filter(({ id }) => !ids.has(id)), ...now, ...this.#others.status]
  }

  /** Whether no request is running. */
  get isIdle(): boolean {
    return this.#taking === 0 && [...this.#ready.values()].every(({ isBusy }) => !isBusy)
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

  /** Lookups run serially: if two requests start the same conversation, the second must find it. */
  #findConversation({ client, body }: R): Promise<FoundConversation> {
    return this.#finding.run(async () => {
      const found = await this.#finder.find(client, body.messages as never[], (id) => this.#isBusy(id))
      this.#claim(found)
      return found
    })
  }

  /**
   * Opens the conversation and takes the request; from then on the conversation itself reports that it is busy. The plan is `undefined` for
   * a side question, when a running response belongs to another model.
   */
  async #takeRequest(found: FoundConversation, request: R): Promise<TakenRequest> {
    const { conversation: id, fork, isByBeginning } = found
    try {
      if (fork !== undefined) await this.#fork(fork, { to: id, request })
      const { chat, managed, model } = await this.#openFor(id, request)
      // messages without a response may be another user's, and Recall would find them on a branch
      if (isByBeginning && this.#matchList(chat, request).leaves)
        return await this.#takeRequest(this.#claim(this.#finder.splitOff(found)), request)
      const isSame = model === String(request.body.model)
      return { conversation: id, plan: isSame ? await managed.take(request) : undefined }
    } finally {
      const left = this.#claims.get(id)! - 1
      if (left > 0) this.#claims.set(id, left)
      else this.#claims.delete(id)
    }
  }

  #claim(found: FoundConversation): FoundConversation {
    this.#claims.set(found.conversation, (this.#claims.get(found.conversation) ?? 0) + 1)
    return found
  }

  #matchList(chat: Conversation, { body }: R): ListMatch {
    return matchListsExactly(
      internalsOf(chat).views.followed.messages,
      identifyMessages(body.messages as never[], this.#read),
    )
  }

  #isBusy(id: string): boolean {
    return this.#claims.has(id) || (this.#ready.get(id)?.isBusy ?? false)
  }

  /** Copies the journal so far for a list that begins like a known one under another id. */
  async #fork(from: string, { to, request }: { readonly to: string; readonly request: R }): Promise<void> {
    // an open conversation is used unchanged: a response of another model may be running
    const open = await this.#open.get(from)?.catch(() => undefined)
    const { chat } = open ?? (await this.#openFor(from, request))
    const last = internalsOf(chat).views.followed.messages[this.#matchList(chat, request).known - 1]
    // without the copy, the conversation begins with the client's list
    if (last)
      await chat.branch(last.uuid, to).catch((error: unknown) => this.#log(`${to}: no fork, ${errorReason(error)}`))
  }

  #recalls(body: ApiBody): boolean {
    const { recall = true, observe = false } = this.#options
    return recall !== false && !observe && hasRecall(withRecall(body))
  }

  #log(line: string): void {
    this.#options.log?.(line)
  }

  async #openFor(id: string, request: R): Promise<OpenConversation> {
    const model = String(request.body.model)
    const hasRecallNow = this.#options.recall === "always" || this.#ready.get(id)?.offersRecall === true
    const canReadResults = canReadFiles(request.body) || (hasRecallNow && this.#recalls(request.body))
    const before = this.#open.get(id)
    const opening = (async () => {
      const known = await before?.catch(() => undefined)
      const isSame = known?.model === model && known.canReadResults === canReadResults
      if (known && (isSame || known.managed.isBusy)) return known // never during a response
      if (known) await this.#closeOpen(id, known)
      return this.#openOne(id, request, { model, canReadResults })
    })()
    this.#open.delete(id) // moves it to the end, as the newest
    this.#open.set(id, opening)
    opening.catch(() => {
      if (this.#open.get(id) !== opening) return
      this.#open.delete(id)
      this.#last.delete(id)
    })
    await this.#closeIdle()
    return opening
  }

  async #openOne(id: string, request: R, { model, canReadResults, store }: OpenOptions): Promise<OpenConversation> {
    const {
      cwd,
      env,
      dir,
      project,
      owner,
      observe = false,
      recall = true,
      settings,
      clock,
      log = () => undefined,
      onCompaction,
    } = this.#options
    this.#last.set(id, request)
    const off = observe ? { off: true } : {}
    const { openConversation } = await import("@strata/core")
    const chat = await openConversation({
      id,
      model,
      cwd,
      env,
      betas: request.betas ?? [],
      cacheBreakpoints: false,
      settings: mergeSettings(
        CLIENT_SETTINGS,
        owner === undefined ? NO_MEMORIES : {},
        settings,
        canReadResults ? {} : NO_OFFLOADING,
        off,
      ),
      ...this.#own(() => this.#last.get(id)!),
      ...(owner === undefined ? {} : { memory: { owner } }),
      ...(project === undefined ? {} : { project }),
      ...(store ? { store } : dir ? { dir } : {}),
      ...(clock ? { clock } : {}),
    })
    chat.on("compaction", (each) => {
      const tell = each.phase === "failed" ? log : onCompaction
      tell?.(`${id}: compaction, ${"message" in each ? each.message : each.phase}`)
    })
    // work that was interrupted by closing is not a failure
    chat.on("layerFailed", ({ layer, reason }) => this.#ready.has(id) && log(`${id}: ${layer} failed, ${reason}`))
    const managed = new ManagedConversation({
      chat,
      caller: request.client,
      ...(typeof owner === "string" ? { owner } : {}),
      facts: factsOf(chat, model),
      observes: observe || chat.settings.values.off, // a client keeps its own list, so when switched off nothing is replaced
      recalls: recall,
      read: this.#read,
      earlier: this.#closed.get(id),
      now: () => clock?.now() ?? new Date(),
      onRequest: (last) => this.#last.set(id, last as R),
      log,
      onPause: this.#options.onPause,
    })
    this.#ready.set(id, managed)
    return { chat, managed, model, canReadResults }
  }

  async #closeIdle(): Promise<void> {
    for (const [id, opening] of this.#open) {
      if (this.#open.size <= MAX_OPEN) return
      const open = await opening.catch(() => undefined)
      if (open && !this.#isBusy(id)) await this.#close(id)
    }
  }

  async #close(id: string): Promise<void> {
    const open = await this.#open.get(id)?.catch(() => undefined)
    this.#open.delete(id)
    if (open) await this.#closeOpen(id, open)
  }

  async #closeOpen(id: string, { chat, managed }: OpenConversation): Promise<void> {
    this.#ready.delete(id)
    await chat.close()
    this.#closed.delete(id) // moves it to the end, as the newest
    this.#closed.set(id, managed.status) // includes the costs of work that was running before
    for (const [oldest] of this.#closed) if (this.#closed.size > MAX_CLOSED) this.#closed.delete(oldest)
    this.#last.delete(id)
  }
}

interface TakenRequest {
  readonly conversation: string
  readonly plan: RequestPlan | undefined
}

interface OpenOptions extends Pick<OpenConversation, "model" | "canReadResults"> {
  /** Default: files. */
  readonly store?: Store
}

const factsOf = (chat: Conversation, model: string): ModelFacts => findModel(model, chat.settings.values.models).facts

/** Merges settings: switches, figures and limits one by one, other fields from the last one. */
function mergeSettings(...settings: readonly (SettingsInput | undefined)[]): SettingsInput {
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
