/** Accounts for a policy's requests: tokens read and written, costs, and cache misses. */
import type { CacheLifetime, TokenCounts } from "@strata/core"
import { inputTokens, NO_TOKENS } from "@strata/core/base"
import type { ModelFacts } from "@strata/core/tokens"
import { costOf } from "@strata/core/tokens"
import { type CacheIncident, CacheModel } from "./cache-model.ts"
import { type ClientCache, cachedPrefix, withPromptBreakpoint } from "./client-cache.ts"
import { type CompactionTexts, classesOf } from "./context-classes.ts"
import type { MeasuredRecording } from "./measured-recording.ts"
import type { LayeredPolicy } from "./policies/layered-policy.ts"
import { cacheIncidents, cachingOf } from "./recorded-policy.ts"
import type { RecordedRequest } from "./recorded-steps.ts"
import type { CacheLoss, Purpose, ReplayedRequest } from "./report.ts"
import type { SentMessage } from "./server-context.ts"

const MIN_LOSS = 1_000 // tokens; smaller differences are inaccuracies of counting
const FIVE_MINUTES = 5 * 60_000

/** The context of a request as the server receives it. */
export interface SentContext {
  readonly messages: readonly SentMessage[]
  readonly prompt: number
}

export type SentRequest = Pick<RecordedRequest, "number" | "model" | "at">

interface CacheRequestOptions {
  /** `false` for a request that nothing follows, which writes no cache. Default: true. */
  readonly writes?: boolean
  readonly incident?: CacheIncident
  /** Default: that of the bill. */
  readonly lifetime?: CacheLifetime
}

export interface ChargeInput {
  readonly turn: number
  readonly request: SentRequest
  readonly counts: TokenCounts
  readonly facts: ModelFacts
  /** For requests of the conversation: the context by class. */
  readonly classes?: { readonly sent: SentContext; readonly own: CompactionTexts }
}

export class Bill {
  readonly requests: ReplayedRequest[] = []
  readonly losses: CacheLoss[] = []
  /** The newest request of the conversation, with its context. */
  last: { readonly request: ReplayedRequest; readonly sent: SentContext } | undefined
  /** Cache lifetime that requests ask for. Absent: as in the recorded client. */
  lifetime: CacheLifetime | undefined
  readonly #recording: MeasuredRecording
  readonly #client: ClientCache
  readonly #incidents: ReadonlyMap<number, CacheIncident>
  readonly #cache = new CacheModel()
  /** Number of the recorded request whose incident was applied last. */
  #met = -1

  constructor(
    recording: MeasuredRecording,
    { lifetime, hasPromptBreakpoint }: Pick<LayeredPolicy, "lifetime" | "hasPromptBreakpoint">,
  ) {
    this.#recording = recording
    this.lifetime = lifetime === "auto" ? "5m" : lifetime
    this.#client = hasPromptBreakpoint ? withPromptBreakpoint(recording.client) : recording.client
    this.#incidents = cacheIncidents(recording)
  }

  /** Tokens that a request reads and writes: cached like the recorded client, unless the policy sets a lifetime. */
  cached(sent: SentContext, request: SentRequest, sending: CacheRequestOptions = {}): TokenCounts {
    const { writes = true, incident, lifetime = this.lifetime } = sending
    const input = this.#cache.send({
      ...cachedPrefix(this.#client, sent),
      ...cachingOf(this.#recording, request),
      ...(lifetime && this.#client.caching === "marked" ? { lifetime } : {}),
      ...{ writes, incident },
    })
    return { ...NO_TOKENS, ...input }
  }

  /**
   * Does the same for the requests of a recorded turn. A cache incident before that turn affects every policy, and the first request of the
   * turn meets it: a summary or a recall may come before the conversation's own request.
   */
  cachedInTurn(
    sent: SentContext,
    request: RecordedRequest,
    { writes = true }: Pick<CacheRequestOptions, "writes"> = {},
  ): TokenCounts {
    const incident = this.#met < request.number ? this.#incidents.get(request.number) : undefined
    this.#met = request.number
    return this.cached(sent, request, { writes, ...(incident ? { incident } : {}) })
  }

  charge(purpose: Purpose, { turn, request, counts, facts, classes }: ChargeInput): ReplayedRequest {
    const cost = costOf(facts, counts)
    const charged: ReplayedRequest = {
      turn,
      purpose,
      at: request.at.toISOString(),
      model: request.model,
      context: inputTokens(counts),
      ...(classes ? { classes: classesOf(classes.sent, classes.own) } : {}),
      counts,
      ...(cost.known ? { dollars: cost.dollars } : {}),
    }
    this.requests.push(charged)
    return charged
  }

  /** Records a cache miss, compared with the cache that the last request left. `acted`: the policy's action before this request. */
  noteLoss(turn: number, { counts, request, acted }: LossInput): void {
    const last = this.last?.request
    if (!last || inputTokens(last.counts) === last.counts.input) return // nothing had been cached
    const tokens = Math.min(last.context, inputTokens(counts)) - counts.cacheRead // tokens that a layer removed are not written again
    if (tokens < MIN_LOSS) return
    const isLate = request.at.getTime() - Date.parse(last.at) > FIVE_MINUTES && counts.cacheRead < last.context / 2
    const why = request.model !== last.model ? "model" : isLate ? "pause" : (acted ?? "other")
    this.losses.push({ turn, tokens, why })
  }
}

interface LossInput {
  readonly counts: TokenCounts
  readonly request: SentRequest
  readonly acted: "compaction" | "clearing" | undefined
}

/** The counts in the form of a response's usage. */
export const usageOf = ({ input, output, cacheRead, cacheWrite5m, cacheWrite1h }: TokenCounts) => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: cacheRead,
  cache_creation_input_tokens: cacheWrite5m + cacheWrite1h,
  cache_creation: { ephemeral_5m_input_tokens: cacheWrite5m, ephemeral_1h_input_tokens: cacheWrite1h },
})
