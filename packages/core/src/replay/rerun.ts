/**
 * Replays a measured recording with one policy. Every entry comes at its recorded time, and the layers run before every request. Each
 * response gets the usage that this request would have had, so the layers see the effect of what they did.
 *
 * What an answer uses again and the policy has taken out of the view is fetched first: one more request, with the block as its result.
 */
import { createFlags, type Flags } from "../base/flags.ts"
import { seededIds } from "../base/ids.ts"
import { compactionAllowed, DEFAULT_SETTINGS, type Settings } from "../base/settings.ts"
import { silentTelemetry } from "../base/telemetry.ts"
import { inputTokens, NO_TOKENS, type TokenCounts } from "../base/token-counts.ts"
import { type Draft, type Entry, isDecision } from "../journal/entries.ts"
import { memoryStore } from "../journal/memory-store.ts"
import type { Journal } from "../journal/store.ts"
import type { LayerContext } from "../layers/layer.ts"
import { type LayerActed, LayerPipeline } from "../layers/pipeline.ts"
import { PING_EVERY_MS, pingsFor } from "../layers/planner/keep-warm.ts"
import { isToolResult, toBlocks } from "../messages/blocks.ts"
import type { FlatMessage } from "../messages/flatten.ts"
import type { Message } from "../messages/messages.ts"
import { callsKeptBy } from "../model/context-management.ts"
import type { ModelFacts } from "../tokens/model-facts.ts"
import { canonicalModelId, findModel, type ModelLookup } from "../tokens/models.ts"
import { costOf } from "../tokens/price.ts"
import { thresholdsFor } from "../tokens/thresholds.ts"
import { fillOf, type Thresholds } from "../tokens/window.ts"
import { buildRequest } from "../views/context/request.ts"
import { Views } from "../views/views.ts"
import { AfterCompactions } from "./after-compaction.ts"
import { CacheModel, type PromptItem } from "./cache-model.ts"
import { classesOf, OwnTexts } from "./context-classes.ts"
import { Fetching } from "./fetching.ts"
import { withoutForgottenThinking } from "./forgotten-thinking.ts"
import { type MeasuredRecording, neededForValidity } from "./measured-recording.ts"
import type { LayeredPolicy, RunOptions } from "./policy.ts"
import type { RecordedRequest, Step } from "./recorded-steps.ts"
import { actionsOf, type PolicyAction } from "./replayed-actions.ts"
import type { CacheLoss, PolicyRun, Purpose, ReplayedRequest } from "./report.ts"
import { type SentMessage, ServerCopy } from "./server-copy.ts"
import { summariserInput } from "./summariser-input.ts"
import { withoutCompactions } from "./without-compactions.ts"

const LEAST_LOSS = 1_000 // tokens: less is a difference of counting
const USUAL_WINDOW = 200_000
const FILLER = "Words in place of a prompt that was not recorded, as many as the prompt has tokens. "
const CALL_OUTPUT = 80 // tokens of a call that fetches something

export async function rerun(
  recording: MeasuredRecording,
  policy: LayeredPolicy,
  options: RunOptions = {},
): Promise<PolicyRun> {
  const blobs = await memoryStore().open({ project: "replay", id: "replay" }, { access: "write", create: true })
  const run = new Rerun({ recording, policy, options, blobs })
  const steps = policy.compactions === "recorded" ? recording.steps : withoutCompactions(recording.steps)
  for (const step of steps) await run.take(step)
  return run.result()
}

interface RerunParts {
  readonly recording: MeasuredRecording
  readonly policy: LayeredPolicy
  readonly options: RunOptions
  readonly blobs: Journal
}

interface Asked {
  readonly name: string
  readonly lookup: ModelLookup
  readonly thresholds: Thresholds
}

/** The context of a request as the server gets it. */
interface Sent {
  readonly messages: readonly SentMessage[]
  readonly prompt: number
}

class Rerun {
  readonly #recording: MeasuredRecording
  readonly #policy: LayeredPolicy
  readonly #options: RunOptions
  readonly #views: Views
  readonly #flags: Flags
  readonly #layers: LayerPipeline
  readonly #journal: Journal
  readonly #entries = new Map<string, Entry>()
  readonly #ids = seededIds("replay")
  readonly #cache = new CacheModel()
  readonly #server: ServerCopy
  readonly #models = new Map<string, Asked>()
  readonly #items = new WeakMap<FlatMessage, SentMessage>()
  readonly #settings: Settings
  readonly #requests: ReplayedRequest[] = []
  readonly #actions: PolicyAction[] = []
  readonly #contexts: number[] = []
  readonly #losses: CacheLoss[] = []
  readonly #failures: string[] = []
  readonly #fetching: Fetching
  readonly #after = new AfterCompactions()
  readonly #ownTexts = new OwnTexts()
  #decided: readonly Draft[] = []
  /** The view before a compaction that is still to be paid for. */
  #compactedFrom: Sent | undefined
  #asked: Asked
  #now = new Date(0)
  #turn = 0
  #isSending = false
  #last: ReplayedRequest | undefined
  #lastSent: Sent | undefined
  #invalid = 0

  constructor({ recording, policy, options, blobs }: RerunParts) {
    this.#recording = recording
    this.#policy = policy
    this.#options = options
    this.#settings = { ...DEFAULT_SETTINGS, ...policy.settings, figures: policy.figures ?? {} }
    this.#asked = this.#ask(recording.model)
    this.#views = new Views({ family: this.#asked.lookup.facts.family, models: recording.models })
    this.#flags = createFlags({ settings: this.#settings }).current
    this.#journal = { ...blobs, find: async (uuid) => this.#entries.get(uuid) }
    this.#server = new ServerCopy(policy.server ?? "keeps")
    this.#fetching = new Fetching(recording)
    this.#layers = new LayerPipeline({
      source: "main",
      layers: policy.layers(),
      telemetry: silentTelemetry, // a replay sends no requests
      conversation: "replay",
      context: () => this.#context(),
      append: async (drafts) => this.#decide(drafts),
      onActed: (event) => this.#noteAction(event),
      onFailed: ({ layer, reason }) => this.#failures.push(`${layer}: ${reason}`),
    })
    this.#showPrompt()
  }

  get #compactsItself(): boolean {
    return this.#policy.compactions !== "recorded"
  }

  async take(step: Step): Promise<void> {
    if (step.kind === "request") await this.#send(step.request)
    else if (step.kind === "entry") await this.#add(step.entry, step.response)
  }

  result(): PolicyRun {
    return {
      requests: this.#requests,
      actions: this.#actions,
      contexts: this.#contexts,
      losses: this.#losses,
      usedAgain: this.#fetching.usedAgain,
      afterCompaction: this.#after.found,
      invalid: this.#invalid,
      failures: this.#failures,
    }
  }

  /**
   * Layers ask which tools a request names, and how large the prompt is. Most recordings say neither, so it names the tools that were
   * called, and words take the place of the rest.
   */
  #showPrompt(): void {
    const tools = this.#recording.tools.map((name) => ({ name }))
    const tokens = this.#recording.prompts[0] ?? 0
    const system = FILLER.repeat(Math.ceil(tokens / this.#views.estimator.text(FILLER)))
    this.#decide([{ type: "strata", subtype: "prompt-rendered", why: "start", system, tools, context: "" }])
  }

  async #add(entry: Entry, response: number | undefined): Promise<void> {
    this.#now = new Date(entry.timestamp)
    this.#apply(this.#inPlace(response === undefined ? entry : this.#asReplayed(entry, response)))
    if (entry.type === "system" && entry.subtype === "compact_boundary") this.#contexts.push(this.#turn + 1)
    if (entry.type !== "user") return
    await this.#layers.onToolResults(toBlocks(entry.message.content).filter(isToolResult))
  }

  /** After entries of the policy's own, a recorded entry follows those. */
  #inPlace(entry: Entry): Entry {
    if (isDecision(entry) || !this.#compactsItself) return entry
    return { ...entry, parentUuid: this.#views.context.newest?.uuid ?? null } as Entry
  }

  async #send(request: RecordedRequest): Promise<void> {
    this.#turn = request.number + 1
    this.#keepWarm(request)
    this.#now = request.at
    this.#asked = this.#ask(request.model)
    this.#isSending = true
    await this.#layers.beforeRequest()
    this.#isSending = false
    this.#decide(neededForValidity(this.#views.context))
    this.#payForSummary(request)
    if (this.#compactsItself) this.#fetchWhatIsNeeded(request)
    const sent = this.#edited(request)
    const counts = { ...this.#cached(sent, request), output: this.#outputOf(request) }
    this.#noteLoss(counts, request)
    this.#last = this.#charge("conversation", { request, counts, sent })
    this.#lastSent = sent
    if (inputTokens(counts) > this.#asked.thresholds.window) this.#invalid++
  }

  /** What the server makes of the request. */
  #edited(request: RecordedRequest): Sent {
    const { context_management } = this.#layers.requestExtras("conversation")
    const { prompt, messages: sent } = this.#sent(request)
    const { messages, edit } = this.#server.edit(sent, { edits: context_management?.edits ?? [], prompt })
    if (edit.cleared > 0) {
      const { cleared: results, tokens } = edit
      const why = "the trigger was passed"
      this.#actions.push({ turn: this.#turn, kind: "cleared by the server", results, tokens, why })
      const keptFrom = this.#views.context.serverKept.firstOf(callsKeptBy({ context_management }))
      this.#decide([{ type: "strata", subtype: "server-edited", edits: [], ...(keptFrom ? { keptFrom } : {}) }])
    }
    return { messages, prompt }
  }

  #sent({ number }: RecordedRequest): Sent {
    const prompt = this.#recording.prompts[number] ?? 0
    const messages = withoutForgottenThinking(this.#views.context.messages().messages, this.#facts)
    return { prompt, messages: messages.map((message) => this.#itemsOf(message)) }
  }

  #cached(sent: Sent, { model, at }: Pick<RecordedRequest, "model" | "at">): TokenCounts {
    const input = this.#cache.send({
      ...cacheItems(sent),
      model: canonicalModelId(model),
      minimum: this.#facts.minCacheable,
      now: this.#recording.pauses === "recorded" ? at.getTime() : undefined,
    })
    return { ...NO_TOKENS, ...input }
  }

  get #facts(): ModelFacts {
    return this.#asked.lookup.facts
  }

  #charge(purpose: Purpose, { request, counts, sent }: Charged): ReplayedRequest {
    const cost = costOf(this.#facts, counts)
    const charged: ReplayedRequest = {
      turn: this.#turn,
      purpose,
      at: request.at.toISOString(),
      model: request.model,
      context: inputTokens(counts),
      ...(sent ? { classes: classesOf(sent, this.#ownTexts) } : {}),
      counts,
      ...(cost.known ? { dollars: cost.dollars } : {}),
    }
    this.#requests.push(charged)
    return charged
  }

  /** In a pause, before the request that ends it: the requests that keep the cache warm, as the planner would have sent them. */
  #keepWarm({ at }: RecordedRequest): void {
    const last = this.#last
    if (!this.#policy.keepsWarm || !last || !this.#lastSent || this.#recording.pauses === "unknown") return
    const began = Date.parse(last.at)
    if (at.getTime() - began <= PING_EVERY_MS) return
    const pings = pingsFor(this.#context())
    for (let ping = 1; ping <= pings && began + ping * PING_EVERY_MS < at.getTime(); ping++) {
      const request = { at: new Date(began + ping * PING_EVERY_MS), model: last.model }
      this.#now = request.at
      const { responseId, ...counts } = { ...this.#cached(this.#lastSent, request), responseId: this.#ids.uuid() }
      this.#charge("keep-warm", { request, counts })
      const usage = usageOf(counts)
      this.#decide([{ type: "strata", subtype: "spent", purpose: "keep-warm", model: last.model, responseId, usage }])
    }
  }

  /** The summariser has read what was in view, or was sent it once more. */
  #payForSummary(request: RecordedRequest): void {
    const before = this.#compactedFrom
    if (!before) return
    this.#compactedFrom = undefined
    const { kind = "fork", ...limits } = this.#policy.summariser ?? {}
    const output = this.#after.summaryTokens((text) => this.#views.estimator.text(text))
    const input =
      kind === "fork" ? this.#cached(before, request) : { ...NO_TOKENS, input: summariserInput(before, limits) }
    this.#charge("summary", { request, counts: { ...input, output } })
  }

  /** One request with a call for every block that is needed and not in view. */
  #fetchWhatIsNeeded(request: RecordedRequest): void {
    const sent = this.#sent(request)
    const missing = this.#fetching.missing(request.number, sent.messages)
    if (missing.length === 0) return
    const counts = { ...this.#cached(sent, request), output: CALL_OUTPUT * missing.length }
    this.#charge("recall", { request, counts })
    const entries = this.#fetching.fetched(missing, { ids: this.#ids, at: this.#now, model: request.model, counts })
    for (const entry of entries) this.#apply(this.#inPlace(entry))
  }

  /** As recorded, or else an estimate of the answer. */
  #outputOf({ number, counted }: RecordedRequest): number {
    if (counted) return counted.output
    const answer = this.#recording.steps.flatMap((step) =>
      step.kind === "entry" && step.response === number && step.entry.type === "assistant"
        ? toBlocks(step.entry.message.content)
        : [],
    )
    return Math.round(answer.reduce((sum, block) => sum + this.#recording.sizes.estimate(block), 0))
  }

  #itemsOf(message: FlatMessage): SentMessage {
    const known = this.#items.get(message)
    if (known) return known
    const { sizes } = this.#recording
    const items = message.content.map((block): PromptItem => ({ block, tokens: sizes.of(block) }))
    const sent = { role: message.role, items }
    this.#items.set(message, sent)
    return sent
  }

  /** The response with the usage that this policy's request has. */
  #asReplayed(entry: Entry, response: number): Entry {
    const request = this.#last
    if (entry.type !== "assistant" || request?.turn !== response + 1) return entry
    return { ...entry, message: { ...entry.message, usage: usageOf(request.counts) } }
  }

  #apply(entry: Entry): void {
    this.#entries.set(entry.uuid, entry)
    this.#views.apply(entry)
  }

  #decide(drafts: readonly Draft[]): void {
    this.#decided = drafts
    const isCompaction = drafts.some(
      ({ type, ...draft }) => type === "strata" && "subtype" in draft && draft.subtype === "compacted",
    )
    if (isCompaction) {
      this.#compactedFrom = this.#sent(this.#recording.requests[this.#turn - 1]!)
      this.#contexts.push(this.#turn)
      this.#ownTexts.add(drafts)
    }
    for (const draft of drafts) this.#apply(this.#placed(draft))
    if (isCompaction) this.#after.look(drafts, this.#views)
  }

  #placed(draft: Draft): Entry {
    const own = "uuid" in draft && draft.uuid !== undefined ? draft.uuid : this.#ids.uuid()
    return {
      ...draft,
      uuid: own,
      parentUuid: this.#views.context.newest?.uuid ?? null,
      timestamp: this.#now.toISOString(),
    } as Message | Entry
  }

  #noteAction({ tokensBefore, tokensAfter }: LayerActed): void {
    const turn = this.#isSending ? this.#turn : this.#turn + 1 // what is done with results is done for the next request
    this.#actions.push(...actionsOf(this.#decided, { turn, tokens: tokensBefore - tokensAfter }))
  }

  /** Compared with what the last request left in the cache. */
  #noteLoss(counts: TokenCounts, { at, model }: RecordedRequest): void {
    const last = this.#last
    if (!last) return
    const tokens = last.context - counts.cacheRead
    if (tokens < LEAST_LOSS || last.counts.cacheRead + last.counts.cacheWrite5m + last.counts.cacheWrite1h === 0) return
    const acted = this.#actions.filter(({ turn }) => turn === this.#turn)
    const isCompacted = this.#contexts.includes(this.#turn)
    const why =
      model !== last.model
        ? "model"
        : at.getTime() - Date.parse(last.at) > FIVE_MINUTES && counts.cacheRead < last.context / 2
          ? "pause"
          : isCompacted
            ? "compaction"
            : acted.length > 0
              ? "clearing"
              : "other"
    this.#losses.push({ turn: this.#turn, tokens, why })
  }

  /** Where no window is given it is the usual one, or the largest where a recorded request was larger. */
  #ask(name: string): Asked {
    const known = this.#models.get(name)
    if (known) return known
    const { models, requests } = this.#recording
    const lookup = findModel(name, models)
    const ofIt = requests.filter(({ model }) => model === name)
    const largest = ofIt.reduce((most, { counted }) => Math.max(most, counted?.input ?? 0), 0)
    const windowName = largest > lookup.facts.window ? `${name}[1m]` : name
    const usual = largest > USUAL_WINDOW || !this.#compactsItself ? undefined : USUAL_WINDOW
    const window = this.#options.window ?? usual
    const values = window === undefined ? this.#settings : { ...this.#settings, contextWindow: window }
    const asked = { name, lookup, thresholds: thresholdsFor({ name: windowName, values, betas: [] }, lookup) }
    this.#models.set(name, asked)
    return asked
  }

  #context(): LayerContext {
    const { name, lookup, thresholds } = this.#asked
    const { context } = this.#views
    const size = context.size()
    const allowed = this.#compactsItself ? compactionAllowed(this.#settings).auto : false
    return {
      conversation: this.#journal.address.id,
      model: name,
      facts: lookup.facts,
      views: this.#views,
      size,
      thresholds,
      fill: fillOf(size.tokens, thresholds, compactionAllowed(this.#settings).auto),
      flags: this.#flags,
      now: this.#now,
      journal: this.#journal,
      compaction: { auto: allowed, manual: allowed },
      newUuid: () => this.#ids.uuid(),
      request: async () =>
        buildRequest({
          model: name,
          maxTokens: this.#settings.maxOutputTokens,
          system: context.prompt?.system,
          tools: context.prompt?.tools,
          messages: context.messages().messages,
        }),
      signal: new AbortController().signal,
      progress: () => undefined,
    }
  }
}

interface Charged {
  readonly request: Pick<RecordedRequest, "at" | "model">
  readonly counts: TokenCounts
  readonly sent?: Sent
}

const FIVE_MINUTES = 5 * 60_000

const usageOf = ({ input, output, cacheRead, cacheWrite5m, cacheWrite1h }: TokenCounts) => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: cacheRead,
  cache_creation_input_tokens: cacheWrite5m + cacheWrite1h,
})

/** All blocks in one list after the prompt, and how many of them the previous request had: those before the last answer. */
function cacheItems({ messages, prompt }: Sent) {
  const answer = messages.findLastIndex(({ role }) => role === "assistant")
  const earlier = messages.slice(0, Math.max(0, answer)).reduce((sum, { items }) => sum + items.length, 1)
  return { items: [{ tokens: prompt }, ...messages.flatMap(({ items }) => items)], before: earlier }
}
