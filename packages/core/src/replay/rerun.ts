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
import { inputTokens, NO_TOKENS } from "../base/token-counts.ts"
import { type Draft, type Entry, isDecision } from "../journal/entries.ts"
import type { Journal } from "../journal/store.ts"
import type { LayerContext } from "../layers/layer.ts"
import { type LayerActed, LayerPipeline } from "../layers/pipeline.ts"
import { dueAfterMs, nextPing } from "../layers/planner/keep-warm.ts"
import { isToolResult, toBlocks } from "../messages/blocks.ts"
import type { Message } from "../messages/messages.ts"
import type { ModelFacts } from "../tokens/model-facts.ts"
import { fillOf } from "../tokens/window.ts"
import { lifetimeIn } from "../views/cache/cache-history.ts"
import { buildRequest } from "../views/context/request.ts"
import { Views } from "../views/views.ts"
import { AfterCompactions } from "./after-compaction.ts"
import { type AskedModel, askedModels } from "./asked-models.ts"
import { Bill, type Charged, type Sent, usageOf } from "./bill.ts"
import { OwnTexts } from "./context-classes.ts"
import { Fetching } from "./fetching.ts"
import { type MeasuredRecording, neededForValidity, outputOf } from "./measured-recording.ts"
import type { LayeredPolicy, RunOptions } from "./policy.ts"
import { RecordedFiles } from "./recorded-files.ts"
import type { RecordedRequest, Step } from "./recorded-steps.ts"
import { replayJournal } from "./replay-journal.ts"
import { actionsOf, type PolicyAction, withMeasuredCompactions } from "./replayed-actions.ts"
import type { PolicyRun, Purpose, ReplayedRequest } from "./report.ts"
import { SaidAgain } from "./said-again.ts"
import { SentContexts } from "./sent-contexts.ts"
import { summariserInput } from "./summariser-input.ts"
import { SUMMARY_TOKENS, summaryCounts } from "./summary-request.ts"
import { withoutCompactions } from "./without-compactions.ts"

const FILLER = "Words in place of a prompt that was not recorded, as many as the prompt has tokens. "
const CALL_OUTPUT = 80 // tokens of a call that fetches something

export async function rerun(
  recording: MeasuredRecording,
  policy: LayeredPolicy,
  options: RunOptions = {},
): Promise<PolicyRun> {
  const entries = new Map<string, Entry>()
  const journal = await replayJournal(recording.steps, (uuid) => entries.get(uuid))
  const run = new Rerun({ recording, policy, options, entries, journal })
  const steps = policy.compactions === "recorded" ? recording.steps : withoutCompactions(recording.steps)
  for (const step of steps) await run.take(step)
  return run.result()
}

interface RerunParts {
  readonly recording: MeasuredRecording
  readonly policy: LayeredPolicy
  readonly options: RunOptions
  /** What the journal finds. */
  readonly entries: Map<string, Entry>
  readonly journal: Journal
}

class Rerun {
  readonly #recording: MeasuredRecording
  readonly #policy: LayeredPolicy
  readonly #views: Views
  readonly #flags: Flags
  readonly #layers: LayerPipeline
  readonly #journal: Journal
  readonly #entries: Map<string, Entry>
  readonly #files = new RecordedFiles()
  readonly #saidAgain = new SaidAgain()
  readonly #ids = seededIds("replay")
  readonly #bill: Bill
  readonly #sent: SentContexts
  readonly #ask: (name: string) => AskedModel
  readonly #settings: Settings
  readonly #actions: PolicyAction[] = []
  readonly #contexts: number[] = []
  readonly #failures: string[] = []
  readonly #fetching: Fetching
  readonly #after = new AfterCompactions()
  readonly #ownTexts = new OwnTexts()
  #decided: readonly Draft[] = []
  /** The view before a compaction that is still to be paid for. */
  #compactedFrom: Sent | undefined
  #asked: AskedModel
  #now = new Date(0)
  #turn = 0
  #isSending = false
  #invalid = 0

  constructor({ recording, policy, options, entries, journal }: RerunParts) {
    this.#recording = recording
    this.#entries = entries
    this.#journal = journal
    this.#bill = new Bill(recording, policy)
    this.#policy = policy
    const figures = { "offline-summary-limit": recording.summaries?.budget ?? SUMMARY_TOKENS, ...policy.figures }
    this.#settings = { ...DEFAULT_SETTINGS, ...policy.settings, figures }
    const keepsCompactions = !this.#compactsItself
    this.#ask = askedModels(recording, { settings: this.#settings, window: options.window, keepsCompactions })
    this.#asked = this.#ask(recording.model)
    this.#views = new Views({ family: this.#asked.lookup.facts.family, models: recording.models })
    this.#flags = createFlags({ settings: this.#settings }).current
    this.#fetching = new Fetching(recording, { recalls: policy.recalls ?? false })
    this.#layers = new LayerPipeline({
      source: "main",
      layers: policy.layers(this.#files, policy),
      telemetry: silentTelemetry, // a replay sends no requests
      conversation: "replay",
      context: () => this.#context(),
      append: async (drafts) => this.#decide(drafts),
      onActed: (event) => this.#noteAction(event),
      onFailed: ({ layer, reason }) => this.#failures.push(`${layer}: ${reason}`),
    })
    const { server = "keeps" } = policy
    this.#sent = new SentContexts({
      recording,
      views: this.#views,
      layers: this.#layers,
      server,
      facts: () => this.#facts,
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
    this.#fetching.close()
    return {
      requests: this.#bill.requests,
      actions: withMeasuredCompactions(this.#actions, this.#bill.requests),
      contexts: this.#contexts,
      losses: this.#bill.losses,
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
    if (entry.type !== "assistant") this.#decide(this.#sent.reported()) // it belongs to the response, so nothing comes between
    this.#apply(this.#inPlace(response === undefined ? entry : this.#asReplayed(entry, response)))
    this.#files.take(entry)
    this.#saidAgain.take(entry)
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
    this.#decide(this.#sent.reported())
    this.#keepWarm(request)
    this.#now = request.at
    this.#asked = this.#ask(request.model)
    this.#isSending = true
    await this.#layers.beforeRequest()
    this.#isSending = false
    this.#decide(neededForValidity(this.#views.context))
    if (this.#policy.lifetime === "auto") this.#bill.lifetime = lifetimeIn(this.#views.cacheHistory.chosen)
    this.#payForSummary(request)
    const first = this.#contextFor(request)
    const sent = this.#compactsItself && this.#fetchWhatIsNeeded(request, first) ? this.#contextFor(request) : first
    const counts = { ...this.#bill.cachedInTurn(sent, request), output: outputOf(this.#recording, request) }
    this.#bill.noteLoss(this.#turn, { counts, request, acted: this.#acted() })
    const classes = { sent, own: this.#ownTexts }
    this.#bill.last = { sent, request: this.#charge("conversation", { request, counts, classes }) }
    if (inputTokens(counts) > this.#asked.thresholds.window) this.#invalid++
  }

  #contextFor(request: RecordedRequest): Sent {
    const { sent, edit } = this.#sent.conversation(request)
    if (edit.cleared > 0) {
      const { cleared: results, tokens } = edit
      const why = "the trigger was passed"
      this.#actions.push({ turn: this.#turn, kind: "cleared by the server", results, tokens, why })
    }
    return sent
  }

  get #facts(): ModelFacts {
    return this.#asked.lookup.facts
  }

  #charge(purpose: Purpose, charged: Pick<Charged, "request" | "counts" | "classes">): ReplayedRequest {
    return this.#bill.charge(purpose, { turn: this.#turn, facts: this.#facts, ...charged })
  }

  #acted(): "compaction" | "clearing" | undefined {
    if (this.#contexts.includes(this.#turn)) return "compaction"
    return this.#actions.some(({ turn }) => turn === this.#turn) ? "clearing" : undefined
  }

  /** In a pause, before the request that ends it: the requests that keep the cache warm, as the planner would have sent them. */
  #keepWarm({ number, at }: RecordedRequest): void {
    const { last } = this.#bill
    if (!this.#policy.keepsWarm || !last || this.#recording.pauses === "unknown") return
    const { model } = last.request
    let due = Date.parse(last.request.at) + dueAfterMs("5m")
    for (let sent = 0; due < at.getTime(); sent++) {
      const lifetime = nextPing(this.#context(), sent)
      if (!lifetime) return
      const request = { number, at: new Date(due), model }
      this.#now = request.at
      const counts =
        lifetime === "1h"
          ? this.#bill.cached(this.#withAnswer(last.sent), request, { lifetime })
          : this.#bill.cached(last.sent, request)
      this.#charge("keep-warm", { request, counts })
      const paid = {
        purpose: "keep-warm",
        model,
        responseId: this.#ids.uuid(),
        usage: usageOf(counts),
        lifetime,
      } as const
      this.#decide([{ type: "strata", subtype: "spent", ...paid }])
      due += dueAfterMs(lifetime)
    }
  }

  /** What was sent, and the answer to it. */
  #withAnswer({ prompt }: Sent): Sent {
    const { messages } = this.#sent.fork(this.#recording.requests[this.#turn - 1]!)
    return { prompt, messages: messages.slice(0, 1 + messages.findLastIndex(({ role }) => role === "assistant")) }
  }

  /** The summariser has read what was in view, or was sent it once more. */
  #payForSummary(request: RecordedRequest): void {
    const before = this.#compactedFrom
    if (!before) return
    this.#compactedFrom = undefined
    const { kind = "fork", ...limits } = this.#policy.summariser ?? {}
    const sent =
      kind === "fork"
        ? this.#bill.cachedInTurn(before, request, { writes: false })
        : { ...NO_TOKENS, input: summariserInput(before, limits) }
    const shown = this.#after.summaryTokens((text) => this.#views.estimator.text(text))
    this.#charge("summary", { request, counts: summaryCounts(this.#recording, { sent, shown }) })
  }

  /** One request with a call for every block that is needed and not in view. `false`: all of them are. */
  #fetchWhatIsNeeded(request: RecordedRequest, sent: Sent): boolean {
    const missing = this.#fetching.missing(request.number, sent.messages)
    if (missing.length === 0) return false
    const counts = { ...this.#bill.cachedInTurn(sent, request), output: CALL_OUTPUT * missing.length }
    this.#bill.noteLoss(this.#turn, { counts, request, acted: this.#acted() })
    this.#charge("recall", { request, counts })
    const about = { ids: this.#ids, at: this.#now, model: request.model, usage: usageOf(counts) }
    const entries = this.#fetching.fetched(missing, about)
    for (const entry of entries) this.#apply(this.#inPlace(entry))
    this.#decide(this.#sent.reported())
    return true
  }

  /** The response with the usage that this policy's request has. */
  #asReplayed(entry: Entry, response: number): Entry {
    const request = this.#bill.last?.request
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
      this.#compactedFrom = this.#sent.fork(this.#recording.requests[this.#turn - 1]!)
      this.#contexts.push(this.#turn)
      this.#ownTexts.add(drafts)
    }
    for (const draft of drafts) this.#apply(this.#placed(draft))
    if (!isCompaction) return
    this.#after.look(drafts, this.#views)
    for (const draft of this.#saidAgain.due(this.#views.context)) this.#apply(this.#placed(draft))
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
      thresholdsOf: () => thresholds,
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
      isOnlyOpened: false,
      meanwhile: () => undefined,
      progress: () => undefined,
    }
  }
}
