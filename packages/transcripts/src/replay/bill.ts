/** What the requests of a policy read, write and cost, and where the cache was lost. */
import type { CacheLifetime, TokenCounts } from "@strata/core"
import { inputTokens, NO_TOKENS } from "@strata/core/base"
import type { ModelFacts } from "@strata/core/tokens"
import { costOf } from "@strata/core/tokens"
import { type CacheIncident, CacheModel } from "./cache-model.ts"
import { type ClientCache, cachedPrefix, markingPromptEnd } from "./client-cache.ts"
import { classesOf, type OwnTexts } from "./context-classes.ts"
import type { MeasuredRecording } from "./measured-recording.ts"
import type { LayeredPolicy } from "./policies/layered-policy.ts"
import { cacheIncidents, cachingOf } from "./recorded-policy.ts"
import type { RecordedRequest } from "./recorded-steps.ts"
import type { CacheLoss, Purpose, ReplayedRequest } from "./report.ts"
import type { SentMessage } from "./server-copy.ts"

const MIN_LOSS = 1_000 // tokens: less is a difference of counting
const FIVE_MINUTES = 5 * 60_000

/** The context of a request as the server gets it. */
export interface Sent {
  readonly messages: readonly SentMessage[]
  readonly prompt: number
}

export type SentRequest = Pick<RecordedRequest, "number" | "model" | "at">

interface Sending {
  /** `false`: a request that nothing follows. Default: it writes. */
  readonly writes?: boolean
  readonly incident?: CacheIncident
  /** Default: that of the bill. */
  readonly lifetime?: CacheLifetime
}

export interface Charged {
  readonly turn: number
  readonly request: SentRequest
  readonly counts: TokenCounts
  readonly facts: ModelFacts
  /** Of a request of the conversation: what it sent, by class. */
  readonly classes?: { readonly sent: Sent; readonly own: OwnTexts }
}

export class Bill {
  readonly requests: ReplayedRequest[] = []
  readonly losses: CacheLoss[] = []
  /** The newest request of the conversation, and what it sent. */
  last: { readonly request: ReplayedRequest; readonly sent: Sent } | undefined
  /** How long requests ask the server to keep what they cache. Absent: as the recorded client did it. */
  lifetime: CacheLifetime | undefined
  readonly #recording: MeasuredRecording
  readonly #client: ClientCache
  readonly #incidents: ReadonlyMap<number, CacheIncident>
  readonly #cache = new CacheModel()
  /** The number of the recorded request whose incident was met last. */
  #met = -1

  constructor(
    recording: MeasuredRecording,
    { lifetime, marksPrompt }: Pick<LayeredPolicy, "lifetime" | "marksPrompt">,
  ) {
    this.#recording = recording
    this.lifetime = lifetime === "auto" ? "5m" : lifetime
    this.#client = marksPrompt ? markingPromptEnd(recording.client) : recording.client
    this.#incidents = cacheIncidents(recording)
  }

  /** What a request reads and writes: cached as the recorded client did it, unless the policy says how long. */
  cached(sent: Sent, request: SentRequest, sending: Sending = {}): TokenCounts {
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
   * The same for the requests of a recorded turn. What happened to the cache before that turn happens to every policy, and the first
   * request of the turn meets it: a summary or a recall may come before the conversation's own.
   */
  cachedInTurn(sent: Sent, request: RecordedRequest, { writes = true }: Pick<Sending, "writes"> = {}): TokenCounts {
    const incident = this.#met < request.number ? this.#incidents.get(request.number) : undefined
    this.#met = request.number
    return this.cached(sent, request, { writes, ...(incident ? { incident } : {}) })
  }

  charge(purpose: Purpose, { turn, request, counts, facts, classes }: Charged): ReplayedRequest {
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

  /** Compared with what the last request left in the cache. `acted`: what the policy did before this one. */
  noteLoss(turn: number, { counts, request, acted }: Lost): void {
    const last = this.last?.request
    if (!last || inputTokens(last.counts) === last.counts.input) return // nothing had been cached
    const tokens = Math.min(last.context, inputTokens(counts)) - counts.cacheRead // what a layer removed is not written again
    if (tokens < MIN_LOSS) return
    const isLate = request.at.getTime() - Date.parse(last.at) > FIVE_MINUTES && counts.cacheRead < last.context / 2
    const why = request.model !== last.model ? "model" : isLate ? "pause" : (acted ?? "other")
    this.losses.push({ turn, tokens, why })
  }
}

interface Lost {
  readonly counts: TokenCounts
  readonly request: SentRequest
  readonly acted: "compaction" | "clearing" | undefined
}

/** As a response would say it. */
export const usageOf = ({ input, output, cacheRead, cacheWrite5m, cacheWrite1h }: TokenCounts) => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: cacheRead,
  cache_creation_input_tokens: cacheWrite5m + cacheWrite1h,
  cache_creation: { ephemeral_5m_input_tokens: cacheWrite5m, ephemeral_1h_input_tokens: cacheWrite1h },
})
