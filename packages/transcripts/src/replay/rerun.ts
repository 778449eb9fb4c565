/**
 * Replays a measured recording with one policy. Every entry comes at its recorded time, and the layers run before every request. Each
 * response gets the usage that its request would have had under the policy, so the layers see the effect of their actions.
 * If a response uses content that the policy removed from the view, it is fetched first with an additional request.
 */

import { setImmediate } from "node:timers/promises"
import type { Entry, Message } from "@strata/core"
import { Events, inputTokens, seededIds } from "@strata/core/base"
import { isToolResult, isToolUse, toBlocks } from "@strata/core/messages"
import { LIFETIME_MS } from "@strata/core/model"
import {
  type LayerActed,
  type LayerContext,
  type LayerEvents,
  LayerPipeline,
  lastUse,
  nextPing,
  PING_EARLY,
  SUMMARY_EARLY,
  sessionMemory,
  silentTelemetry,
  turnPhase,
} from "@strata/core/policy"
import { createFlags, DEFAULT_SETTINGS, type Flags, type Settings } from "@strata/core/settings"
import { type DecisionOf, type EntryDraft, isDecision, type Journal } from "@strata/core/store"
import type { ModelFacts } from "@strata/core/tokens"
import { messageLifetime, Views } from "@strata/core/views"
import { AfterCompactions } from "./after-compaction.ts"
import { Bill, type ChargeInput, type SentContext, usageOf } from "./bill.ts"
import { CompactionTexts } from "./context-classes.ts"
import { type MeasuredRecording, neededForValidity, outputOf } from "./measured-recording.ts"
import { MEMORY_FORK, MemoryWork } from "./memory-work.ts"
import type { LayeredPolicy } from "./policies/layered-policy.ts"
import type { RunOptions } from "./policy.ts"
import { PreservedNames } from "./preserved-names.ts"
import { RecordedFiles } from "./recorded-files.ts"
import type { RecordedRequest, RecordedStep } from "./recorded-steps.ts"
import { Refetcher } from "./refetch-cost.ts"
import { RepeatedNotices } from "./repeated-notices.ts"
import { replayJournal } from "./replay-journal.ts"
import { actionsOf, type PolicyAction, withMeasuredCompactions } from "./replayed-actions.ts"
import { replayedContext } from "./replayed-context.ts"
import { type ReplayedModel, replayedModels } from "./replayed-models.ts"
import { ReplayedNotes } from "./replayed-notes.ts"
import type { PolicyRun, Purpose, ReplayedCompaction, ReplayedRequest } from "./report.ts"
import { SentContexts } from "./sent-contexts.ts"
import { SideRequests } from "./side-requests.ts"
import { SUMMARY_TOKENS } from "./summary-request.ts"
import { withoutCompactions } from "./without-compactions.ts"

const FILLER = "Words in place of a prompt that was not recorded, as many as the prompt has tokens. "
const SUMMARY_SECONDS = 30 // a model takes for a summary; recorded ones took 10 to 88
const MAX_ANSWER_MS = 2 * 60_000
const CALL_OUTPUT = 80 // output tokens of a call that fetches a block
const NO_MODEL = { name: "replay", capabilities: {} } // no model is called

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
  await run.end()
  return run.result()
}

interface RerunInput {
  readonly recording: MeasuredRecording
  readonly policy: LayeredPolicy
  readonly options: RunOptions
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
  readonly #repeatedNotices = new RepeatedNotices()
  readonly #ids = seededIds("replay")
  readonly #bill: Bill
  readonly #sent: SentContexts
  readonly #modelNamed: (name: string) => ReplayedModel
  readonly #settings: Settings
  readonly #actions: PolicyAction[] = []
  readonly #contexts: number[] = []
  readonly #failures: string[] = []
  readonly #refetcher: Refetcher
  readonly #preservedNames: PreservedNames
  readonly #offloaded = new Set<string>()
  readonly #after = new AfterCompactions()
  readonly #ownTexts = new CompactionTexts()
  readonly #memoryWork = new MemoryWork()
  #decided: readonly EntryDraft[] = []
  readonly #notes: ReplayedNotes
  readonly #side: SideRequests
  /** Seconds that one summary takes, and milliseconds just spent waiting for one. */
  readonly #summarySeconds: number
  #waited = 0
  readonly #compactions: ReplayedCompaction[] = []
  #answered: { readonly at: Date; readonly isFinal: boolean } | undefined
  #replayedModel: ReplayedModel
  #now = new Date(0)
  #turn = 0
  #isSending = false
  #isPausing = false
  #invalid = 0

  constructor({ recording, policy, options, entries, journal }: RerunInput) {
    this.#recording = recording
    this.#entries = entries
    this.#journal = journal
    this.#bill = new Bill(recording, policy)
    this.#policy = policy
    const budget = recording.summaries?.budget ?? SUMMARY_TOKENS
    const figures = { "offline-summary-limit": budget, "notes-section-limit": budget + 500, ...policy.figures }
    this.#settings = { ...DEFAULT_SETTINGS, ...policy.settings, figures }
    const keepsCompactions = !this.#compactsItself
    this.#modelNamed = replayedModels(recording, { settings: this.#settings, window: options.window, keepsCompactions })
    this.#replayedModel = this.#modelNamed(recording.model)
    this.#views = new Views({ family: this.#replayedModel.lookup.facts.family, models: recording.models })
    this.#flags = createFlags({ settings: this.#settings }).current
    this.#summarySeconds = options.summarySeconds ?? SUMMARY_SECONDS
    this.#notes = new ReplayedNotes({
      seconds: this.#summarySeconds,
      now: () => this.#now,
      pay: (about) => this.#side.notes(about),
      waited: (ms) => {
        this.#waited += ms
      },
    })
    const notes = sessionMemory({ model: NO_MODEL } as never, this.#notes.write)
    this.#refetcher = new Refetcher(recording, {
      recalls: policy.recalls ?? false,
      isForgotten: (text) => policy.listsCount === false && this.#ownTexts.isList(text),
      isInFile: (id) => policy.readsFiles === true && this.#offloaded.has(id),
    })
    this.#preservedNames = new PreservedNames(recording)
    const events = new Events<LayerEvents>()
    events.on("layerActed", (event) => this.#noteAction(event))
    events.on("layerFailed", ({ layer, reason }) => this.#failures.push(`${layer}: ${reason}`))
    this.#layers = new LayerPipeline({
      source: "main",
      layers: policy.layers({
        ...{ files: this.#files, notes, keepsWarm: policy.keepsWarm ?? false },
        timing: { every: () => () => undefined, wait: this.#notes.wait },
      }),
      telemetry: silentTelemetry, // a replay sends no requests
      conversation: "replay",
      context: () => this.#context(),
      record: {
        append: async (drafts) => this.#decide(drafts),
        decide: async (drafts) => this.#decide(drafts),
        whenWritten: ({ written }) => written(),
        events,
      },
    })
    const { server = "keeps" } = policy
    this.#sent = new SentContexts({
      recording,
      views: this.#views,
      layers: this.#layers,
      server,
      facts: () => this.#facts,
    })
    this.#side = new SideRequests({
      ...{ recording, policy, bill: this.#bill, sent: this.#sent, after: this.#after, ids: this.#ids },
      estimate: (text) => this.#views.estimator.text(text),
      moment: () => ({ now: this.#now, newest: this.#newestRequest, isSending: this.#isSending }),
      charge: (purpose, charged) => this.#charge(purpose, charged),
      decide: (drafts) => this.#decide(drafts),
    })
    this.#showPrompt()
  }

  get #compactsItself(): boolean {
    return this.#policy.compactions !== "recorded"
  }

  /** Handles the time after the last request: the user does not return, and work done in case of a return is charged. */
  async end(): Promise<void> {
    await this.#follow()
    const last = this.#recording.requests.at(-1)
    if (last && this.#compactsItself) await this.#pause(last, Number.POSITIVE_INFINITY)
    this.#side.end()
    this.#notes.finish()
    await this.#layers.whenIdle()
  }

  async take(step: RecordedStep): Promise<void> {
    if (step.kind === "request") await this.#send(step.request)
    else if (step.kind === "entry") await this.#add(step.entry, step.response)
  }

  result(): PolicyRun {
    this.#refetcher.close()
    return {
      requests: this.#bill.requests,
      actions: withMeasuredCompactions(this.#actions, this.#bill.requests),
      contexts: this.#contexts,
      compactions: this.#compactions,
      texts: this.#side.texts,
      losses: this.#bill.losses,
      usedAgain: this.#refetcher.usedAgain,
      namesKept: this.#preservedNames.found,
      afterCompaction: this.#after.found,
      invalid: this.#invalid,
      failures: this.#failures,
    }
  }

  /**
   * Renders a substitute prompt, because layers ask for the tools of a request and the size of its prompt, which most recordings lack: it
   * names the tools that were called and is filled with words.
   */
  #showPrompt(): void {
    const tools = this.#recording.tools.map((name) => ({ name }))
    const tokens = this.#recording.prompts[0] ?? 0
    const system = FILLER.repeat(Math.ceil(tokens / this.#views.estimator.text(FILLER)))
    this.#decide([{ type: "strata", subtype: "prompt-rendered", why: "start", system, tools, context: "" }])
  }

  async #add(entry: Entry, response: number | undefined): Promise<void> {
    if (response === undefined) await this.#follow()
    await this.#until(new Date(entry.timestamp))
    // the report belongs to the response, so nothing comes between its parts
    if (entry.type !== "assistant") this.#decide(this.#sent.reported())
    this.#apply(this.#inPlace(response === undefined ? entry : this.#asReplayed(entry, response)))
    this.#files.take(entry)
    this.#repeatedNotices.take(entry)
    if (entry.type === "assistant" && response !== undefined) {
      const calls = toBlocks(entry.message.content).some(isToolUse)
      this.#answered = { at: this.#now, isFinal: (this.#answered?.isFinal ?? true) && !calls }
    }
    if (entry.type === "system" && entry.subtype === "compact_boundary") this.#contexts.push(this.#turn + 1)
    if (entry.type !== "user") return
    await this.#layers.onToolResults(toBlocks(entry.message.content).filter(isToolResult))
  }

  /** Links a recorded entry to the newest entry, which may be the policy's own. */
  #inPlace(entry: Entry): Entry {
    if (isDecision(entry) || !this.#compactsItself) return entry
    return { ...entry, parentUuid: this.#views.context.newest?.uuid ?? null } as Entry
  }

  async #follow(): Promise<void> {
    const answered = this.#answered
    this.#answered = undefined
    if (!answered || !this.#compactsItself) return
    this.#decide(this.#sent.reported()) // a fork asks for what the server has cleared
    const now = this.#now
    // if a response seems to have taken longer, it was requested again meanwhile, and its cache is newer than the recorded request
    this.#now = new Date(Math.min(answered.at.getTime(), this.#newestRequest.at.getTime() + MAX_ANSWER_MS))
    this.#layers.inBackground("afterResponse")
    if (answered.isFinal) this.#layers.inBackground("afterQuery")
    await this.#settled()
    if (this.#policy.remembers) this.#remember(answered.isFinal)
    this.#now = now
  }

  /** Charges for memories: a fork that reads the conversation from the cache. */
  #remember(isFinal: boolean): void {
    if (isFinal && this.#memoryWork.isDue(this.#context())) this.#side.fork("memory", MEMORY_FORK)
  }

  async #until(time: Date): Promise<void> {
    for (let due = this.#notes.due; due !== undefined && due <= time.getTime(); due = this.#notes.due) {
      this.#now = new Date(due)
      this.#notes.finish()
      await this.#settled()
    }
    this.#now = time
  }

  /** Waits until all background work is done, except notes that are still being written. */
  async #settled(): Promise<void> {
    do await setImmediate()
    while (this.#layers.workingLayers().some((name) => name !== "session-memory" || this.#notes.due === undefined))
  }

  get #newestRequest(): RecordedRequest {
    return this.#recording.requests[Math.max(0, this.#turn - 1)]!
  }

  async #send(request: RecordedRequest): Promise<void> {
    await this.#follow()
    this.#turn = request.number + 1
    this.#decide(this.#sent.reported())
    if (this.#compactsItself) await this.#pause(request, request.at.getTime())
    await this.#until(request.at)
    this.#replayedModel = this.#modelNamed(request.model)
    this.#isSending = true
    await this.#layers.beforeRequest()
    await this.#settled()
    this.#isSending = false
    this.#decide(neededForValidity(this.#views.context))
    if (this.#policy.lifetime === "auto") this.#bill.lifetime = messageLifetime(this.#views.cacheHistory.chosen)
    this.#side.compaction(request)
    const first = this.#contextFor(request)
    this.#preservedNames.sent(request.number, first.messages)
    const sent = this.#compactsItself && this.#fetchMissing(request, first) ? this.#contextFor(request) : first
    const counts = { ...this.#bill.cachedInTurn(sent, request), output: outputOf(this.#recording, request) }
    this.#bill.noteLoss(this.#turn, { counts, request, acted: this.#acted() })
    const classes = { sent, own: this.#ownTexts }
    this.#bill.last = { sent, request: this.#charge("conversation", { request, counts, classes }) }
    if (inputTokens(counts) > this.#replayedModel.thresholds.window) this.#invalid++
  }

  #contextFor(request: RecordedRequest): SentContext {
    const { sent, edit } = this.#sent.conversation(request)
    if (edit.cleared > 0) {
      const { cleared: results, tokens } = edit
      const why = "the trigger was passed"
      this.#actions.push({ turn: this.#turn, kind: "cleared by the server", results, tokens, why })
    }
    return sent
  }

  get #facts(): ModelFacts {
    return this.#replayedModel.lookup.facts
  }

  #charge(purpose: Purpose, charged: Pick<ChargeInput, "request" | "counts" | "classes">): ReplayedRequest {
    return this.#bill.charge(purpose, { turn: this.#turn, facts: this.#facts, ...charged })
  }

  #acted(): "compaction" | "clearing" | undefined {
    if (this.#contexts.includes(this.#turn)) return "compaction"
    return this.#actions.some(({ turn }) => turn === this.#turn) ? "clearing" : undefined
  }

  /** Simulates the pause before a request: summaries and keep-warm requests that the planner would have sent. */
  async #pause({ number }: RecordedRequest, until: number): Promise<void> {
    const { last } = this.#bill
    if (!last || this.#recording.pauses === "unknown") return
    let used = Date.parse(last.request.at)
    for (let pings = 0; ; pings++) {
      const life = LIFETIME_MS[lastUse({ timestamp: last.request.at }, this.#views).lifetime]
      if (used + SUMMARY_EARLY * life >= until) return
      await this.#until(new Date(used + SUMMARY_EARLY * life))
      this.#isPausing = true
      this.#layers.inBackground("beforeExpiry")
      await this.#settled()
      this.#isPausing = false
      this.#side.compaction(this.#newestRequest)
      const due = used + PING_EARLY * life
      await this.#until(new Date(due))
      if (this.#layers.upcoming.state !== "not-begun" || due >= until || !this.#policy.keepsWarm) return
      const lifetime = nextPing(this.#context(), pings)
      if (!lifetime) return
      this.#side.ping({ number, at: this.#now, model: last.request.model }, { lifetime, sent: last.sent })
      used = due
    }
  }

  /** Sends one request that calls for every needed block that is not in view. Returns `false` if none is missing. */
  #fetchMissing(request: RecordedRequest, sent: SentContext): boolean {
    const missing = this.#refetcher.findMissing(request.number, sent.messages)
    if (missing.length === 0) return false
    const counts = { ...this.#bill.cachedInTurn(sent, request), output: CALL_OUTPUT * missing.length }
    this.#bill.noteLoss(this.#turn, { counts, request, acted: this.#acted() })
    this.#charge("recall", { request, counts })
    const about = { ids: this.#ids, at: this.#now, model: request.model, usage: usageOf(counts) }
    const entries = this.#refetcher.fetchEntries(missing, about)
    for (const entry of entries) this.#apply(this.#inPlace(entry))
    this.#decide(this.#sent.reported())
    return true
  }

  #asReplayed(entry: Entry, response: number): Entry {
    const request = this.#bill.last?.request
    if (entry.type !== "assistant" || request?.turn !== response + 1) return entry
    return { ...entry, message: { ...entry.message, usage: usageOf(request.counts) } }
  }

  #apply(entry: Entry): void {
    this.#entries.set(entry.uuid, entry)
    this.#views.apply(entry)
  }

  #decide(drafts: readonly EntryDraft[]): void {
    this.#decided = drafts
    const compacted = drafts.find((draft) => draft.type === "strata" && draft.subtype === "compacted")
    const isCompaction = compacted !== undefined
    if (isCompaction) {
      const { route, prepared: isPrepared = false, planned, tokensAfter } = compacted as DecisionOf<"compacted">
      this.#side.compacted({ fromNotes: route === "notes", isPrepared })
      this.#compactions.push({
        turn: this.#turn,
        opening: this.#isPausing ? "pause" : turnPhase(this.#context()),
        tokensBefore: this.#views.context.size().tokens,
        tokensAfter,
        route,
        isPlanned: planned !== undefined,
        waitedMs:
          this.#waited + (isPrepared || route === "notes" || this.#isPausing ? 0 : this.#summarySeconds * 1_000),
      })
      this.#waited = 0
      this.#contexts.push(this.#turn)
      this.#ownTexts.add(drafts)
    }
    for (const draft of drafts) {
      if (draft.type === "strata" && draft.subtype === "tool-result-persisted") this.#offloaded.add(draft.toolUseId)
      this.#apply(this.#placed(draft))
    }
    if (!isCompaction) return
    this.#after.measure(drafts, this.#views)
    for (const draft of this.#repeatedNotices.due(this.#views.context)) this.#apply(this.#placed(draft))
  }

  #placed(draft: EntryDraft): Entry {
    const own = "uuid" in draft && draft.uuid !== undefined ? draft.uuid : this.#ids.uuid()
    return {
      ...draft,
      uuid: own,
      parentUuid: this.#views.context.newest?.uuid ?? null,
      timestamp: this.#now.toISOString(),
    } as Message | Entry
  }

  #noteAction({ tokensBefore, tokensAfter }: LayerActed): void {
    const turn = this.#isSending ? this.#turn : this.#turn + 1 // actions on results are taken for the next request
    this.#actions.push(...actionsOf(this.#decided, { turn, tokens: tokensBefore - tokensAfter }))
  }

  #context(): LayerContext {
    return replayedContext({
      ...{
        asked: this.#replayedModel,
        views: this.#views,
        settings: this.#settings,
        flags: this.#flags,
        now: this.#now,
      },
      ...{ journal: this.#journal, compactsItself: this.#compactsItself, ids: this.#ids },
      prior: { asked: this.#recording.client.lifetimes[0] === "1h" ? "1h" : undefined },
      runInBackground: (layer, work) => this.#layers.begin(layer, work),
    })
  }
}
