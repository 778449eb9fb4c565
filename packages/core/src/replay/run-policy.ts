/**
 * Replays a measured recording with one policy. Every entry comes at its recorded time, and the layers run before every request. Each
 * response gets the usage that this request would have had, so the layers see the effect of what they did.
 */
import { createFlags, type Flags } from "../base/flags.ts"
import { seededIds } from "../base/ids.ts"
import { compactionAllowed, DEFAULT_SETTINGS, type Settings } from "../base/settings.ts"
import { silentTelemetry } from "../base/telemetry.ts"
import { inputTokens, type TokenCounts } from "../base/token-counts.ts"
import type { DecisionDraft, Draft, Entry } from "../journal/entries.ts"
import { memoryStore } from "../journal/memory-store.ts"
import type { Journal } from "../journal/store.ts"
import type { LayerContext } from "../layers/layer.ts"
import { type LayerActed, LayerPipeline } from "../layers/pipeline.ts"
import { isToolResult, toBlocks } from "../messages/blocks.ts"
import type { FlatMessage } from "../messages/flatten.ts"
import { callsKeptBy } from "../model/context-management.ts"
import { canonicalModelId, findModel, type ModelLookup } from "../tokens/models.ts"
import { costOf } from "../tokens/price.ts"
import { thresholdsFor } from "../tokens/thresholds.ts"
import { fillOf, type Thresholds } from "../tokens/window.ts"
import { buildRequest } from "../views/context/request.ts"
import { Views } from "../views/views.ts"
import { CacheModel, type PromptItem } from "./cache-model.ts"
import { type MeasuredRecording, neededForValidity, placedDecision } from "./measured-recording.ts"
import type { Policy } from "./policies.ts"
import type { RecordedRequest, Step } from "./recorded-steps.ts"
import { actionsOf, type PolicyAction } from "./replayed-actions.ts"
import { type SentMessage, ServerCopy } from "./server-copy.ts"

export interface ReplayedRequest {
  /** Counted from 1. */
  readonly turn: number
  readonly at: string
  readonly model: string
  /** Tokens of the whole input. */
  readonly context: number
  readonly counts: TokenCounts
  /** Absent where the model's price is unknown. */
  readonly dollars?: number
}

export interface PolicyRun {
  readonly requests: readonly ReplayedRequest[]
  readonly actions: readonly PolicyAction[]
  /** The turn of the first request after each compaction. */
  readonly contexts: readonly number[]
  readonly failures: readonly string[]
}

const NO_COMPACTION = { auto: false, manual: false } // recorded compactions stay where they were

export async function runPolicy(recording: MeasuredRecording, policy: Policy): Promise<PolicyRun> {
  const kept = await memoryStore().open({ project: "replay", id: "replay" }, { access: "write", create: true })
  const rerun = new Rerun({ recording, policy, blobs: kept })
  for (const step of recording.steps) await rerun.take(step)
  return rerun.result()
}

interface RerunParts {
  readonly recording: MeasuredRecording
  readonly policy: Policy
  readonly blobs: Journal
}

interface Asked {
  readonly name: string
  readonly lookup: ModelLookup
  readonly thresholds: Thresholds
}

class Rerun {
  readonly #recording: MeasuredRecording
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
  readonly #failures: string[] = []
  #decided: readonly Draft[] = []
  #asked: Asked
  #now = new Date(0)

  constructor({ recording, policy, blobs }: RerunParts) {
    this.#recording = recording
    this.#settings = { ...DEFAULT_SETTINGS, figures: policy.figures }
    this.#asked = this.#ask(recording.model)
    this.#views = new Views({ family: this.#asked.lookup.facts.family, models: recording.models })
    this.#flags = createFlags({ settings: this.#settings }).current
    this.#journal = { ...blobs, find: async (uuid) => this.#entries.get(uuid) }
    this.#server = new ServerCopy(policy.server)
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
    this.#showTools()
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
      failures: this.#failures,
    }
  }

  /** Layers ask which tools a request names. Most recordings do not say, so it names the tools that were called. */
  #showTools(): void {
    const tools = this.#recording.tools.map((name) => ({ name }))
    this.#decide([{ type: "strata", subtype: "prompt-rendered", why: "start", system: "", tools, context: "" }])
  }

  async #add(entry: Entry, response: number | undefined): Promise<void> {
    this.#now = new Date(entry.timestamp)
    this.#apply(response === undefined ? entry : this.#asReplayed(entry, response))
    if (entry.type === "system" && entry.subtype === "compact_boundary") this.#contexts.push(this.#requests.length + 1)
    if (entry.type !== "user") return
    await this.#layers.onToolResults(toBlocks(entry.message.content).filter(isToolResult))
  }

  async #send(request: RecordedRequest): Promise<void> {
    const turn = request.number + 1
    this.#now = request.at
    this.#asked = this.#ask(request.model)
    await this.#layers.beforeRequest()
    this.#decide(neededForValidity(this.#views.context))
    const { context_management } = this.#layers.requestExtras("conversation")
    const prompt = this.#recording.prompts[request.number] ?? 0
    const sent = this.#views.context.messages().messages.map((message) => this.#itemsOf(message))
    const { messages, edit } = this.#server.edit(sent, { edits: context_management?.edits ?? [], prompt })
    if (edit.cleared > 0) {
      const { cleared: results, tokens } = edit
      this.#actions.push({ turn, kind: "cleared by the server", results, tokens, why: "the trigger was passed" })
      const keptFrom = this.#views.context.serverKept.firstOf(callsKeptBy({ context_management }))
      this.#decide([{ type: "strata", subtype: "server-edited", edits: [], ...(keptFrom ? { keptFrom } : {}) }])
    }
    const { facts } = this.#asked.lookup
    const input = this.#cache.send({
      ...cacheItems(messages, prompt),
      model: canonicalModelId(request.model),
      minimum: facts.minCacheable,
      now: this.#recording.pauses === "recorded" ? request.at.getTime() : undefined,
    })
    const counts: TokenCounts = { ...input, cacheWrite1h: 0, output: this.#outputOf(request) }
    const cost = costOf(facts, counts)
    this.#requests.push({
      turn,
      at: request.at.toISOString(),
      model: request.model,
      context: inputTokens(counts),
      counts,
      ...(cost.known ? { dollars: cost.dollars } : {}),
    })
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
    const request = this.#requests[response]
    if (entry.type !== "assistant" || !request) return entry
    const { input, output, cacheRead, cacheWrite5m } = request.counts
    const usage = {
      input_tokens: input,
      output_tokens: output,
      cache_read_input_tokens: cacheRead,
      cache_creation_input_tokens: cacheWrite5m,
    }
    return { ...entry, message: { ...entry.message, usage } }
  }

  #apply(entry: Entry): void {
    this.#entries.set(entry.uuid, entry)
    this.#views.apply(entry)
  }

  #decide(drafts: readonly Draft[]): void {
    this.#decided = drafts
    for (const draft of drafts as readonly DecisionDraft[])
      this.#apply(placedDecision(draft, { uuid: this.#ids.uuid(), views: this.#views, at: this.#now }))
  }

  #noteAction({ tokensBefore, tokensAfter }: LayerActed): void {
    const turn = this.#requests.length + 1
    this.#actions.push(...actionsOf(this.#decided, { turn, tokens: tokensBefore - tokensAfter }))
  }

  /** A request larger than the model's window must have used the 1M window. */
  #ask(name: string): Asked {
    const known = this.#models.get(name)
    if (known) return known
    const { models, requests } = this.#recording
    const lookup = findModel(name, models)
    const ofIt = requests.filter(({ model }) => model === name)
    const largest = ofIt.reduce((most, { counted }) => Math.max(most, counted?.input ?? 0), 0)
    const windowName = largest > lookup.facts.window ? `${name}[1m]` : name
    const thresholds = thresholdsFor({ name: windowName, values: this.#settings, betas: [] }, lookup)
    const asked = { name, lookup, thresholds }
    this.#models.set(name, asked)
    return asked
  }

  #context(): LayerContext {
    const { name, lookup, thresholds } = this.#asked
    const { context } = this.#views
    const size = context.size()
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
      compaction: NO_COMPACTION,
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

/** All blocks in one list after the prompt, and how many of them the previous request had: those before the last answer. */
function cacheItems(messages: readonly SentMessage[], prompt: number) {
  const answer = messages.findLastIndex(({ role }) => role === "assistant")
  const earlier = messages.slice(0, Math.max(0, answer)).reduce((sum, { items }) => sum + items.length, 1)
  return { items: [{ tokens: prompt }, ...messages.flatMap(({ items }) => items)], before: earlier }
}
