/** The conversations of callers: each request finds its own, which is opened when it is needed and closed when others need the room. */

import type { Conversation, ConversationOptions, SettingsInput } from "@strata/core"
import { RECALL_TOOL } from "@strata/core/agent"
import type { Owner } from "@strata/core/base"
import { errorKind, errorMessage, errorReason, randomIds, SerialQueue } from "@strata/core/base"
import {
  givenMessages,
  isReadableList,
  keepingReader,
  type Matched,
  matchedExactly,
  repeatsCalls,
} from "@strata/core/conversation"
import { MAX_RESULT_CHARACTERS } from "@strata/core/settings"
import type { Store } from "@strata/core/store"
import type { ModelFacts } from "@strata/core/tokens"
import { findModel } from "@strata/core/tokens"
import { CallerPlace } from "./caller-place.ts"
import { canReadFiles, FILE_READERS } from "./caller-tools.ts"
import { Callers, type FoundConversation } from "./callers.ts"
import { ManagedConversation } from "./managed-conversation.ts"
import { OtherRequests } from "./other-requests.ts"
import type { Body, CallerRequest, ConversationStatus, PauseNotice, Plan } from "./plan.ts"
import { hasRecall, withRecall } from "./recall.ts"
import { REHEARSED_ANSWER, REHEARSED_REQUEST } from "./rehearsed-request.ts"
import { splicedAnswer, wantsJson } from "./spliced-answer.ts"

export interface CallerOptions {
  /** The project's directory, which says where journals are kept. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly dir?: string
  /** What the project is called. Default: what the environment, the settings or the directory say. */
  readonly project?: string
  /** Whose conversations these are. Without an owner there are no memories. */
  readonly owner?: Owner
  /** Nothing is changed. */
  readonly observe?: boolean
  /**
   * Whether the model gets a tool to look up what left the context. Default `true`: once something has left it. `"always"`: from the first
   * request on.
   */
  readonly recall?: boolean | "always"
  readonly settings?: SettingsInput
  readonly clock?: NonNullable<ConversationOptions["clock"]>
  /** Gets a line for each failure. */
  readonly log?: (line: string) => void
  /** Gets a line for each step of a compaction. */
  readonly onCompaction?: (line: string) => void
  /** Asked before the first request after a pause that cost the server's cache. With `false` the request is not sent. */
  readonly onPause?: (notice: PauseNotice) => Promise<boolean>
}

/** How requests of our own are sent: as the caller's last one, with its keys. */
export type OwnRequests<R> = (
  last: () => R,
) => Pick<ConversationOptions, "client"> & Partial<Pick<ConversationOptions, "model">>

/**
 * What pays where a caller keeps its own list. Second tries of a summary are requests that its bill does not show, so they are off. The
 * caller says how long caches live, and what it wants to see of thinking.
 */
export const FOR_CALLERS: SettingsInput = {
  cacheLifetime: "5m",
  flush: "never", // the caller has every message: after a power cut it sends them again
  switches: { dreaming: false, "summarized-thinking": false },
  // results stay up to 50,000 characters, as elsewhere: by `npm run put-aside` smaller sizes save 2% at most, and the model would have to ask
  // for files outside the project
  figures: { "audit-coverage": 0, "audit-fabrication": 100 },
  // what shows files cuts itself, and shows what was put aside
  toolResultLimits: Object.fromEntries([...FILE_READERS, RECALL_TOOL].map((name) => [name, MAX_RESULT_CHARACTERS])),
}

/** Memories belong to an owner. */
const NO_MEMORIES: SettingsInput = { switches: { "auto-memory": false, "memory-recall": false } }

/** A model that can neither read files nor recall would never see what was put aside. */
const KEEPS_RESULTS: SettingsInput = { switches: { "tool-result-storage": false } }

const MAX_CLOSED = 1_000 // rows that the status still shows
const MAX_OPEN = 100 // conversations; others are opened again when they are asked for

interface Open {
  readonly chat: Conversation
  readonly managed: ManagedConversation
  /** What it was opened with. */
  readonly model: string
  readonly canLookUp: boolean
}

export class CallerConversations<R extends CallerRequest> {
  readonly #options: CallerOptions
  readonly #own: OwnRequests<R>
  readonly #place: CallerPlace
  readonly #callers: Callers
  /** Messages that a client sends again are the same objects. */
  readonly #read = keepingReader()
  readonly #open = new Map<string, Promise<Open>>()
  readonly #ready = new Map<string, ManagedConversation>()
  /** Requests that have found their conversation, and that it has not taken yet. */
  readonly #claims = new Map<string, number>()
  readonly #finding = new SerialQueue()
  #taking = 0
  readonly #closed = new Map<string, ConversationStatus>()
  /** Keys are in them: they are nowhere but here. */
  readonly #last = new Map<string, R>()
  readonly #others: OtherRequests

  constructor(options: CallerOptions, own: OwnRequests<R>) {
    this.#options = options
    this.#own = own
    this.#others = new OtherRequests({ isObserved: options.observe ?? false })
    this.#place = new CallerPlace(options)
    this.#callers = new Callers({ log: this.#place.log, newId: () => randomIds.uuid(), read: this.#read })
  }

  /** Where the journals are. */
  directory(): Promise<string> {
    return this.#place.directory()
  }

  async take(request: R): Promise<Plan> {
    this.#taking++
    return this.#planned(request)
      .catch((error: unknown) => {
        const reason = errorMessage(error)
        this.#log(`A request was sent unchanged: ${reason}`)
        // a server may see it, so its kind only: what an error says can quote the conversation
        return this.#others.plan(request.body, { passedThrough: `a failure (${errorKind(error)})`, reason })
      })
      .finally(() => this.#taking--)
  }

  /** A request that is part of no conversation. */
  aside(request: R): Plan {
    return this.#others.plan(request.body)
  }

  /** A request whose messages no one can make sense of. The server says what it thinks of it. */
  unreadable(request: R): Plan {
    const reason = "The messages of a request cannot be read, so it was sent as it is."
    return this.#others.plan(request.body, { passedThrough: "messages that cannot be read", reason })
  }

  async #planned(request: R): Promise<Plan> {
    const { caller } = request
    const messages = request.body.messages as never[]
    if (!isReadableList(messages)) return this.unreadable(request)
    // a view has each call once, so the model would not see what came of the second
    if (repeatsCalls(givenMessages(messages, this.#read)))
      return this.#others.plan(request.body, {
        passedThrough: "calls that share an id",
        reason: "Two calls in the list have the same id, so it was sent as it is.",
      })
    const { plan, conversation } = await this.#taken(await this.#found(request), request)
    if (!plan) return this.#others.plan(request.body)
    const before: Body[] = []
    return {
      ...plan,
      again: async (answer) => {
        const next = await plan.again(answer)
        if (next) before.push(answer)
        return next
      },
      answered: async (answer) => {
        const splicing = { tool: plan.hiddenTool ?? "", isJson: wantsJson(request.body) }
        const { content } = plan.hiddenTool ? splicedAnswer(before, answer, splicing) : answer
        const noted = this.#callers
          .note(conversation, caller, [...messages, { role: "assistant", content }])
          .catch((error: unknown) =>
            this.#log(`${conversation}: not noted for the next process, ${errorReason(error)}`),
          )
        await plan.answered(answer)
        await noted
      },
    }
  }

  /**
   * Loads what a first request needs, and runs it once in a conversation that is kept nowhere. Call it when the door is open: a client
   * takes longer to start. Without it the first request does the same. `asIf` makes a request of the caller's kind.
   */
  async warmUp(asIf: (request: CallerRequest) => R): Promise<void> {
    const request = asIf(REHEARSED_REQUEST)
    const id = "rehearsed"
    const rehearse = async () => {
      const { memoryStore } = await import("@strata/core")
      const how = { model: String(request.body.model), canLookUp: true, store: memoryStore() }
      const { chat, managed } = await this.#openOne(id, request, how)
      const { answered } = await managed.take(request)
      await answered(REHEARSED_ANSWER)
      await chat.close()
    }
    await Promise.allSettled([this.#callers.load(), rehearse()])
    this.#last.delete(id)
  }

  async status(): Promise<readonly ConversationStatus[]> {
    const open = await Promise.allSettled(this.#open.values())
    const now = open.flatMap((each) => (each.status === "fulfilled" ? each.value.managed.status : []))
    const ids = new Set(now.map(({ id }) => id))
    return [...[...this.#closed.values()].filter(({ id }) => !ids.has(id)), ...now, ...this.#others.status]
  }

  /** No request is under way. */
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

  /** One after another: of two that begin at once the second must see the first. */
  #found({ caller, body }: R): Promise<FoundConversation> {
    return this.#finding.run(async () => {
      const found = await this.#callers.find(caller, body.messages as never[], (id) => this.#isBusy(id))
      this.#claim(found)
      return found
    })
  }

  /**
   * From here on the conversation itself says that it is busy. `undefined`: a question beside the conversation, since the answer that is on
   * its way belongs to another model.
   */
  async #taken(found: FoundConversation, request: R): Promise<Taken> {
    const { conversation: id, fork, isByBeginning } = found
    try {
      if (fork !== undefined) await this.#fork(fork, { to: id, request })
      const { chat, managed, model } = await this.#opened(id, request)
      // what has no answer yet may be another person's: Recall would find it on a branch
      if (isByBeginning && this.#matched(chat, request).leaves)
        return await this.#taken(this.#claim(this.#callers.apart(found)), request)
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

  #matched({ views }: Conversation, { body }: R): Matched {
    return matchedExactly(views.followed.messages, givenMessages(body.messages as never[], this.#read))
  }

  #isBusy(id: string): boolean {
    return this.#claims.has(id) || (this.#ready.get(id)?.isBusy ?? false)
  }

  /** A list that begins like a known one, under another id: the journal so far is copied. */
  async #fork(from: string, { to, request }: { readonly to: string; readonly request: R }): Promise<void> {
    // as it is, if it is open: an answer may be on its way, to another model
    const open = await this.#open.get(from)?.catch(() => undefined)
    const { chat } = open ?? (await this.#opened(from, request))
    const last = chat.views.followed.messages[this.#matched(chat, request).known - 1]
    // without the copy it begins with the client's list
    if (last)
      await chat.branch(last.uuid, to).catch((error: unknown) => this.#log(`${to}: no fork, ${errorReason(error)}`))
  }

  #recalls(body: Body): boolean {
    const { recall = true, observe = false } = this.#options
    return recall !== false && !observe && hasRecall(withRecall(body))
  }

  #log(line: string): void {
    this.#options.log?.(line)
  }

  async #opened(id: string, request: R): Promise<Open> {
    const model = String(request.body.model)
    const hasRecallNow = this.#options.recall === "always" || this.#ready.get(id)?.offersRecall === true
    const canLookUp = canReadFiles(request.body) || (hasRecallNow && this.#recalls(request.body))
    const before = this.#open.get(id)
    const opening = (async () => {
      const known = await before?.catch(() => undefined)
      const isSame = known?.model === model && known.canLookUp === canLookUp
      if (known && (isSame || known.managed.isBusy)) return known // never in the middle of an answer
      if (known) await this.#shut(id, known)
      return this.#openOne(id, request, { model, canLookUp })
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

  async #openOne(id: string, request: R, { model, canLookUp, store }: Opening): Promise<Open> {
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
      settings: merged(
        FOR_CALLERS,
        owner === undefined ? NO_MEMORIES : {},
        settings,
        canLookUp ? {} : KEEPS_RESULTS,
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
    // what it was doing when it was closed is no failure
    chat.on("layerFailed", ({ layer, reason }) => this.#ready.has(id) && log(`${id}: ${layer} failed, ${reason}`))
    const managed = new ManagedConversation({
      chat,
      caller: request.caller,
      ...(typeof owner === "string" ? { owner } : {}),
      facts: factsOf(chat, model),
      observes: observe || chat.settings.values.off, // a caller has its own list: switched off, nothing else is sent
      recalls: recall,
      read: this.#read,
      earlier: this.#closed.get(id),
      now: () => clock?.now() ?? new Date(),
      onRequest: (last) => this.#last.set(id, last as R),
      log,
      onPause: this.#options.onPause,
    })
    this.#ready.set(id, managed)
    return { chat, managed, model, canLookUp }
  }

  async #makeRoom(): Promise<void> {
    for (const [id, opening] of this.#open) {
      if (this.#open.size <= MAX_OPEN) return
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
    for (const [oldest] of this.#closed) if (this.#closed.size > MAX_CLOSED) this.#closed.delete(oldest)
    this.#last.delete(id)
  }
}

interface Taken {
  readonly conversation: string
  readonly plan: Plan | undefined
}

interface Opening extends Pick<Open, "model" | "canLookUp"> {
  /** Default: files. */
  readonly store?: Store
}

const factsOf = (chat: Conversation, model: string): ModelFacts => findModel(model, chat.settings.values.models).facts

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
