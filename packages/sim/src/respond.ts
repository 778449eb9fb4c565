/** Answers a prompt, without HTTP: reads the cache, asks the responder, compacts if requested, builds the message. */

import { BETA } from "./api-dialect.ts"
import { askResponder } from "./ask-responder.ts"
import { toPrefix, totalTokens } from "./cache/prefix.ts"
import type { CacheOutcome, PrefixItem } from "./cache/prompt-cache.ts"
import { askForSummary, sealCompaction, summaryIn, summaryInstructions } from "./context-management/compaction.ts"
import { isSpoken, type Turn } from "./conversation.ts"
import { type Generation, generate, stopReasonOf } from "./generate.ts"
import type { Prompt } from "./prepare.ts"
import { answerWithServerTools } from "./server-tools/answer.ts"
import type { Simulation } from "./simulation.ts"
import type { BindingState } from "./thinking/binding.ts"
import { omitsThinking, thinkingMode } from "./thinking/mode.ts"
import { extendChain } from "./thinking/prefix-chain.ts"
import { countText } from "./tokens.ts"
import type {
  ContentBlock,
  Edit,
  IterationUsage,
  MessageResponse,
  ServerToolUsage,
  StopReason,
  TokenUsage,
  Usage,
} from "./wire.ts"

// Builds usage objects from the cache outcome and the output.

export function tokenUsage({ read, write5m, write1h, uncached }: CacheOutcome, outputTokens: number): TokenUsage {
  return {
    input_tokens: uncached,
    cache_creation_input_tokens: write5m + write1h,
    cache_read_input_tokens: read,
    cache_creation: { ephemeral_5m_input_tokens: write5m, ephemeral_1h_input_tokens: write1h },
    output_tokens: outputTokens,
  }
}

export const NO_TOKENS: TokenUsage = tokenUsage(
  { read: 0, write5m: 0, write1h: 0, uncached: 0, hitIndex: -1, entries: [] },
  0,
)

export const messageIteration = (usage: TokenUsage): IterationUsage => ({ type: "message", model: null, ...usage })
export const compactionIteration = (usage: TokenUsage): IterationUsage => ({ type: "compaction", ...usage })

export interface UsageParts {
  readonly tokens: TokenUsage
  readonly thinkingTokens: number
  readonly speed: "standard" | "fast"
  readonly serverTools: ServerToolUsage | null
  readonly iterations: readonly IterationUsage[] | undefined
  readonly cacheDeletedTokens: number | undefined
}

export function toUsage({
  tokens,
  thinkingTokens,
  speed,
  serverTools,
  iterations,
  cacheDeletedTokens,
}: UsageParts): Usage {
  return {
    ...tokens,
    output_tokens_details: { thinking_tokens: thinkingTokens },
    server_tool_use: serverTools,
    service_tier: "standard",
    inference_geo: "global",
    speed,
    ...(iterations && { iterations }),
    ...(cacheDeletedTokens !== undefined && { cache_deleted_input_tokens: cacheDeletedTokens }),
  }
}

const DEFAULT_COMPACTION_TRIGGER = 150_000 // input tokens

export interface ResponseOptions {
  /** When the request came in, in milliseconds. The lifetime of its cache entries starts then. */
  readonly start: number
  /** Each workspace has its own cache entries. */
  readonly workspace: string
  /** Set by a fault: the responder's summary is discarded. */
  readonly compactionFails: boolean
}

export interface Reply {
  readonly message: MessageResponse
  /** Reports the beginning of the response. From then on other requests can read what this one wrote to the cache. */
  readonly begin: () => void
}

type CompactEdit = Extract<Edit, { type: "compact_20260112" }>

/** The compaction edit, if the prompt has passed its threshold. */
export function dueCompaction({ request: { body }, inputTokens }: Prompt): CompactEdit | undefined {
  const edit = body.context_management?.edits?.find((candidate) => candidate.type === "compact_20260112")
  return edit && inputTokens > (edit.trigger?.value ?? DEFAULT_COMPACTION_TRIGGER) ? edit : undefined
}

export async function respond(prompt: Prompt, simulation: Simulation, options: ResponseOptions): Promise<Reply> {
  const answering = new ResponseBuilder(prompt, simulation, options)
  const { body } = prompt.request
  if (body.max_tokens === 0) return answering.prewarm()
  if (body.compaction) return answering.compactOnDemand(body.compaction.instructions)
  const due = dueCompaction(prompt)
  return due ? answering.compactAndAnswer(due) : answering.answer()
}

/** One request in progress. Collects its cache reads and writes and the iterations it is billed for. */
class ResponseBuilder {
  private readonly prompt: Prompt
  private readonly simulation: Simulation
  private readonly options: ResponseOptions
  private readonly outcomes: CacheOutcome[] = []

  constructor(prompt: Prompt, simulation: Simulation, options: ResponseOptions) {
    this.prompt = prompt
    this.simulation = simulation
    this.options = options
  }

  /** Fills the cache and returns no content. */
  prewarm(): Reply {
    const tokens = tokenUsage(this.lookUp(this.prompt.items), 0)
    return this.finish({ content: [], stopReason: "max_tokens", tokens, iterations: [messageIteration(tokens)] })
  }

  async answer(): Promise<Reply> {
    const { turns, items } = this.prompt
    const cache = this.lookUp(items)
    const generation = await this.generateFrom(turns, this.prompt.inputTokens, this.prompt.bound)
    const tokens = usageOf(cache, generation)
    return this.finish({ ...generation, tokens, iterations: [messageIteration(tokens)] })
  }

  /** Returns only a compaction block, signed together with the messages it replaces. */
  async compactOnDemand(instructions: string | null | undefined): Promise<Reply> {
    const { summary, stopReason, iteration } = await this.summarize(instructions)
    const parts = { tokens: NO_TOKENS, iterations: [iteration] }
    const tooLong = iteration.output_tokens > this.prompt.request.body.max_tokens
    if (summary === undefined || tooLong) {
      return this.finish({ content: [], stopReason: tooLong ? "max_tokens" : stopReason, ...parts })
    }
    const signature = sealCompaction(summary, this.prompt.bound().chain)
    const content: ContentBlock[] = [{ type: "compaction", content: summary, signature }]
    return this.finish({ content, stopReason: "compaction", ...parts })
  }

  /** Returns a compaction block and, unless the client wants a pause, the answer that continues from it. */
  async compactAndAnswer({ instructions, pause_after_compaction: pauses }: CompactEdit): Promise<Reply> {
    const { summary, iteration } = await this.summarize(instructions)
    const bound = this.prompt.bound()
    const block: ContentBlock = {
      type: "compaction",
      content: summary ?? null,
      encrypted_content: summary === undefined ? null : sealCompaction(summary, bound.chain),
    }
    if (pauses) {
      return this.finish({ content: [block], stopReason: "compaction", tokens: NO_TOKENS, iterations: [iteration] })
    }
    const turns = summary === undefined ? this.prompt.turns : startingWith(block)
    const items = this.prefixOf(turns)
    const cache = this.lookUp(items)
    const chain = extendChain(bound.chain, "assistant", block)
    const generation = await this.generateFrom(turns, totalTokens(items), () => ({ ...bound, chain }))
    const tokens = usageOf(cache, generation)
    return this.finish({
      ...generation,
      content: [block, ...generation.content],
      tokens,
      iterations: [iteration, messageIteration(tokens)],
    })
  }

  private async summarize(ownInstructions: string | null | undefined) {
    const { turns, request, items } = this.prompt
    const cache = this.lookUp(items)
    const instructions = summaryInstructions(ownInstructions)
    const asked = askForSummary(turns, instructions)
    const answer = await askResponder(this.simulation, { body: request.body, turns: asked, summary: { instructions } })
    const summary = this.options.compactionFails ? undefined : summaryIn(answer)
    const question = totalTokens(this.prefixOf(asked)) - this.prompt.inputTokens
    const usage = tokenUsage({ ...cache, uncached: cache.uncached + question }, countText(summary ?? ""))
    return { summary, stopReason: stopReasonOf(answer), iteration: compactionIteration(usage) }
  }

  private async generateFrom(
    turns: readonly Turn[],
    inputTokens: number,
    bound: () => BindingState,
  ): Promise<ServedGeneration> {
    const { body, model } = this.prompt.request
    const { answer, resultTokens, serverTools } = await answerWithServerTools(this.simulation, { body, turns })
    const generation = generate(
      answer,
      {
        maxTokens: body.max_tokens,
        windowLeft: model.window - inputTokens,
        stopSequences: body.stop_sequences ?? [],
        thinking: thinkingMode(body, model) === "off" ? "off" : omitsThinking(body, model) ? "omitted" : "on",
        thinkingFirst: body.thinking?.type === "enabled" && beginsRound(turns),
      },
      bound,
    )
    return { ...generation, resultTokens, serverTools }
  }

  private lookUp(items: readonly PrefixItem[]): CacheOutcome {
    const { model } = this.prompt.request
    const outcome = this.simulation.cache.lookUp({
      items,
      scope: `${this.options.workspace}/${model.id}`,
      minimum: model.minCacheable,
      now: this.options.start,
    })
    this.outcomes.push(outcome)
    return outcome
  }

  private prefixOf(turns: readonly Turn[]) {
    const { body, model } = this.prompt.request
    return toPrefix({ body, model, turns, counter: this.simulation.counter })
  }

  private finish(parts: FinishedParts): Reply {
    const { request, items, appliedEdits, transformations, cacheDeletedTokens } = this.prompt
    const { body, dialect, model } = request
    const { betas } = dialect
    const { identity, diagnostics, cache } = this.simulation
    const id = identity.next("msg")
    const previous = body.diagnostics?.previous_message_id
    const reason = previous ? diagnostics.compare(previous, { model: model.id, items }) : undefined
    diagnostics.remember(id, { model: model.id, items })

    const compacts = betas.has(BETA.compactAtThreshold) || betas.has(BETA.compactOnDemand)
    const message: MessageResponse = {
      id,
      type: "message",
      role: "assistant",
      model: body.model,
      content: parts.content,
      stop_reason: parts.stopReason,
      stop_sequence: parts.stopSequence ?? null,
      stop_details: null,
      container: null,
      diagnostics: reason ? { cache_miss_reason: reason } : null,
      usage: toUsage({
        tokens: parts.tokens,
        thinkingTokens: parts.thinkingTokens ?? 0,
        speed: body.speed ?? "standard",
        serverTools: parts.serverTools ?? null,
        iterations: compacts ? parts.iterations : undefined,
        cacheDeletedTokens,
      }),
      ...(body.context_management && { context_management: { applied_edits: appliedEdits } }),
      ...(betas.has(BETA.thinkingBinding) && { input_transformations: transformations }),
    }
    return {
      message,
      begin: () => {
        for (const outcome of this.outcomes) cache.commit(outcome)
      },
    }
  }
}

interface FinishedParts {
  readonly content: readonly ContentBlock[]
  readonly stopReason: StopReason
  readonly stopSequence?: string | null
  readonly tokens: TokenUsage
  readonly thinkingTokens?: number
  readonly serverTools?: ServerToolUsage | null
  readonly iterations: readonly IterationUsage[]
}

interface ServedGeneration extends Generation {
  /** Tokens of the server tools' results. The model reads them, so they count as input. */
  readonly resultTokens: number
  readonly serverTools: ServerToolUsage | null
}

const usageOf = (cache: CacheOutcome, { outputTokens, resultTokens }: ServedGeneration): TokenUsage =>
  tokenUsage({ ...cache, uncached: cache.uncached + resultTokens }, outputTokens)

/** Whether the answer is the first since the user's last message. */
const beginsRound = (turns: readonly Turn[]) =>
  !turns.slice(turns.findLastIndex(isSpoken) + 1).some(({ role }) => role === "assistant")

const startingWith = (block: ContentBlock): readonly Turn[] => [
  { role: "assistant", blocks: [{ block, message: 0, position: 0 }] },
]
