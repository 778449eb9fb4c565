/**
 * Replays a recording unchanged: its own compactions, clearing and sizes. Only cache reads and writes of each request are modelled.
 * Comparing them with the bill shows how accurate the model is.
 */
import type { TokenCounts } from "@strata/core"
import { isFromUser } from "@strata/core/messages"
import { isDecision } from "@strata/core/store"
import { canonicalModelId, findModel, tokenCounts } from "@strata/core/tokens"
import { type ExplainedIncident, incidentOf } from "./cache-incidents.ts"
import { type CachedInput, type CacheIncident, type CacheInput, CacheModel, type PromptItem } from "./cache-model.ts"
import { cachedPrefix, readOf } from "./client-cache.ts"
import { type MeasuredRecording, type RecordedContext, recordedContexts } from "./measured-recording.ts"
import type { RecordedRequest } from "./recorded-steps.ts"
import { SentMessages } from "./sent-messages.ts"
import type { SentMessage } from "./server-context.ts"

/** A request with its billed and its modelled counts. */
export interface ComparedRequest {
  readonly request: RecordedRequest
  readonly billed: TokenCounts
  /** Counts by the rules alone: prefixes, breakpoints, lifetimes. */
  readonly expected: TokenCounts
  /** Including the incident. Equal to `expected` if there was none. */
  readonly modelled: TokenCounts
  readonly incident?: ExplainedIncident
}

interface Expectation {
  readonly cacheInput: CacheInput
  readonly expected: CachedInput
}

interface Size {
  readonly prompt: number
  readonly input: number
}

const AUTOMATIC_MINIMUM = 1_024 // tokens, as OpenAI documents it
const SHRUNK = 0.01 // of the input: a context that lost more than this was edited

/** Compares the requests that have a recorded usage. */
export function runRecordedPolicy(recording: MeasuredRecording): readonly ComparedRequest[] {
  const rerun = new RecordedRun(recording)
  const compared: ComparedRequest[] = []
  for (const context of recordedContexts(recording, recording)) {
    const request = rerun.send(context)
    if (request) compared.push(request)
  }
  return compared
}

/** How the recorded client cached this request, which holds for every policy. */
export function cachingOf(
  { client, pauses, models }: MeasuredRecording,
  { number, model, at }: Pick<RecordedRequest, "number" | "model" | "at">,
): Pick<CacheInput, "model" | "minimum" | "now" | "lifetime" | "caching"> {
  const { minCacheable } = findModel(model, models).facts
  return {
    model: canonicalModelId(model),
    minimum: client.caching === "automatic" ? AUTOMATIC_MINIMUM : minCacheable,
    now: pauses === "recorded" ? at.getTime() : undefined,
    lifetime: client.lifetimes[number] ?? "5m",
    caching: client.caching,
  }
}

/**
 * Deviations of the cache from its rules, by the number of the request before which they occurred. All policies meet the same incidents.
 */
export function cacheIncidents(recording: MeasuredRecording): ReadonlyMap<number, CacheIncident> {
  const known = computed.get(recording)
  if (known) return known
  const { firstRead, promptBreakpoints } = recording.client
  const first = recording.requests.find(({ usage }) => usage)
  const incidents = new Map<number, CacheIncident>()
  if (first && firstRead > 0 && firstRead <= (promptBreakpoints.at(-1) ?? 0))
    incidents.set(first.number, { kind: "found", upTo: firstRead })
  for (const { request, incident } of runRecordedPolicy(recording))
    if (incident?.incident) incidents.set(request.number, incident.incident)
  computed.set(recording, incidents)
  return incidents
}

const computed = new WeakMap<MeasuredRecording, ReadonlyMap<number, CacheIncident>>()

class RecordedRun {
  readonly #recording: MeasuredRecording
  readonly #cache = new CacheModel()
  readonly #messages: SentMessages
  #prompt: number | undefined
  /** Input tokens of the first request of this turn, and of the previous turn. */
  #turns = { current: 0, before: 0 }

  constructor(recording: MeasuredRecording) {
    this.#recording = recording
    this.#messages = new SentMessages(recording.sizes)
  }

  send(context: RecordedContext): ComparedRequest | undefined {
    const { request } = context
    const { usage, counted } = request
    if (!usage || !counted) return undefined
    const input = counted.input - request.clearedByServer
    const { cacheInput, prompt, promptEnd } = this.#sent(context, input)
    const byRules = { ...cacheInput, incident: this.#knownIncident(context, { prompt, input }) }
    const expected = this.#cache.expect(byRules)
    const read = readOf(usage)
    const withoutExpiry = this.#cache.expect({ ...cacheInput, incident: { kind: "outlived" } })
    const answered = tokensOf(cacheInput.items.slice(0, cacheInput.answered))
    const found = incidentOf({ read, input, expected, withoutExpiry, answered, prompt: promptEnd, context })
    const incident = found && this.#ifCloser(found, { cacheInput, expected })
    const modelled = this.#cache.send(incident?.incident ? { ...cacheInput, incident: incident.incident } : byRules)
    return {
      request,
      billed: tokenCounts(usage),
      expected: { ...expected, output: counted.output },
      modelled: { ...modelled, output: counted.output },
      ...(incident ? { incident } : {}),
    }
  }

  /** Drops an incident that does not bring the model closer to the tokens read, because it explains nothing. */
  #ifCloser(found: ExplainedIncident, { cacheInput, expected }: Expectation): ExplainedIncident {
    const { read, cause, incident } = found
    if (!incident) return found
    const distance = ({ cacheRead }: CachedInput) => Math.abs(cacheRead - read)
    return distance(this.#cache.expect({ ...cacheInput, incident })) < distance(expected) ? found : { read, cause }
  }

  /**
   * Incidents that the recording shows without its cache counts: a first read of another conversation's cache, and a context that shrank.
   */
  #knownIncident({ request, isFirst, since }: RecordedContext, { prompt, input }: Size): CacheIncident | undefined {
    const before = this.#prompt
    this.#prompt = prompt
    const isTurn = since.some((entry) => !isDecision(entry) && isFromUser(entry))
    if (isTurn || isFirst) this.#turns = { current: input, before: isFirst ? 0 : this.#turns.current }
    const { firstRead, caching } = this.#recording.client
    if (before === undefined) return firstRead > 0 ? { kind: "found", upTo: firstRead } : undefined
    if (isFirst) return undefined
    const { accepts } = findModel(request.model, this.#recording.models).facts
    const forgets = isTurn && (caching === "automatic" || !accepts.earlierThinking)
    if (forgets && prompt < before) return { kind: "lost", kept: "part", upTo: this.#turns.before }
    return prompt < before - SHRUNK * input ? { kind: "lost", kept: "prompt", upTo: input } : undefined
  }

  /** The request with its billed size. Tokens beyond the messages count as prompt. */
  #sent({ request, messages }: RecordedContext, input: number) {
    const { client } = this.#recording
    const sent = messages.map((message) => this.#messages.of(message))
    const prompt = input - tokensIn(sent)
    const promptEnd = Math.max(prompt, client.promptBreakpoints.at(-1) ?? 0)
    const cacheInput: CacheInput = {
      ...cachedPrefix(client, { messages: fitted(sent, input - promptEnd), prompt: promptEnd }),
      ...cachingOf(this.#recording, request),
    }
    return { cacheInput, prompt, promptEnd }
  }
}

/** Scales all blocks down if the messages exceed the billed size, because the recording does not show which ones were shortened. */
function fitted(messages: readonly SentMessage[], room: number): readonly SentMessage[] {
  const all = tokensIn(messages)
  if (all <= room) return messages
  const scale = Math.max(0, room) / all
  return messages.map(({ role, items }) => ({
    role,
    items: items.map((item) => ({ ...item, tokens: item.tokens * scale })),
  }))
}

const tokensOf = (items: readonly PromptItem[]) => items.reduce((sum, { tokens }) => sum + tokens, 0)
const tokensIn = (messages: readonly SentMessage[]) => messages.reduce((sum, { items }) => sum + tokensOf(items), 0)
