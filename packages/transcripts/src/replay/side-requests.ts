/** Simulates a policy's side requests and their costs: forks that write notes and memories, summaries, and keep-warm requests. */
import { NO_TOKENS, type seededIds } from "@strata/core/base"
import type { CacheEntryLifetime } from "@strata/core/model"
import type { DecisionOf, EntryDraft } from "@strata/core/store"
import type { AfterCompactions } from "./after-compaction.ts"
import { type Bill, type ChargeInput, type SentContext, type SentRequest, usageOf } from "./bill.ts"
import type { MeasuredRecording } from "./measured-recording.ts"
import { type ForkTokens, forkCounts, NOTES_FORK } from "./memory-work.ts"
import type { LayeredPolicy } from "./policies/layered-policy.ts"
import type { RecordedRequest } from "./recorded-steps.ts"
import type { NotesRequest } from "./replayed-notes.ts"
import type { Purpose } from "./report.ts"
import type { SentContexts } from "./sent-contexts.ts"
import { summarizerInputTokens } from "./summarizer-input.ts"
import { summaryCounts } from "./summary-request.ts"

const CHANGED = 0.1 // share of the new tokens that an update of the notes writes

interface ReplayMoment {
  readonly now: Date
  /** The newest request of the conversation. */
  readonly newest: RecordedRequest
  /** Whether it is being sent. */
  readonly isSending: boolean
}

interface SideRequestsDependencies {
  readonly recording: MeasuredRecording
  readonly policy: LayeredPolicy
  readonly bill: Bill
  readonly sent: SentContexts
  readonly after: AfterCompactions
  readonly ids: ReturnType<typeof seededIds>
  readonly estimate: (text: string) => number
  readonly moment: () => ReplayMoment
  readonly charge: (purpose: Purpose, charged: Pick<ChargeInput, "request" | "counts">) => void
  readonly decide: (drafts: readonly EntryDraft[]) => void
}

export class SideRequests {
  readonly #parts: SideRequestsDependencies
  /** Numbers of notes: written for the first time, updated, and never used by a compaction. */
  readonly texts = { written: 0, updates: 0, unused: 0 }
  /** Whether notes were written since the last boundary. */
  #hasNotes = false
  /** The view before a compaction whose summary is not charged yet. */
  #compactedFrom: SentContext | undefined

  constructor(parts: SideRequestsDependencies) {
    this.#parts = parts
  }

  end(): void {
    if (this.#hasNotes) this.texts.unused++
  }

  /** Charges for notes. The first notes are as long as a summary; an update writes a share of the new tokens, with a minimum. */
  notes({ tokens, before, since = 0 }: NotesRequest): void {
    if (this.#hasNotes) this.texts.updates++
    else this.texts.written++
    this.#hasNotes = true
    const changed = Math.max(NOTES_FORK.answer, Math.round(CHANGED * since))
    const answer = before === undefined ? tokens : Math.min(tokens, changed)
    this.fork("notes", { prompt: NOTES_FORK.prompt + (before ?? 0), answer })
  }

  fork(purpose: "notes" | "memory", fork: ForkTokens): void {
    const { bill, sent: contexts, charge } = this.#parts
    const { newest, now, isSending } = this.#parts.moment()
    const request = { ...newest, at: now }
    const sent = contexts.fork(isSending ? newest : request)
    const counts = forkCounts(fork, bill.cached(sent, request, { writes: false }))
    charge(purpose, { request, counts })
    this.#spent({ purpose, model: request.model, usage: usageOf(counts) })
  }

  ping(
    request: SentRequest,
    { lifetime, sent }: { readonly lifetime: CacheEntryLifetime; readonly sent: SentContext },
  ): void {
    const { bill, charge } = this.#parts
    const counts =
      lifetime === "1h" ? bill.cached(this.#withAnswer(sent), request, { lifetime }) : bill.cached(sent, request)
    charge("keep-warm", { request, counts })
    this.#spent({ purpose: "keep-warm", model: request.model, usage: usageOf(counts), lifetime })
  }

  #spent(paid: Pick<DecisionOf<"spent">, "purpose" | "model" | "usage" | "lifetime">): void {
    const { ids, decide } = this.#parts
    decide([{ type: "strata", subtype: "spent", responseId: ids.uuid(), ...paid }])
  }

  /** The last context including its response. */
  #withAnswer({ prompt }: SentContext): SentContext {
    const { messages } = this.#parts.sent.fork(this.#parts.moment().newest)
    return { prompt, messages: messages.slice(0, 1 + messages.findLastIndex(({ role }) => role === "assistant")) }
  }

  /** Records a compaction. A summary that is not prepared is charged with the request that needs it. */
  compacted({ fromNotes, isPrepared }: { readonly fromNotes: boolean; readonly isPrepared: boolean }): void {
    if (fromNotes) this.#hasNotes = false
    else if (!isPrepared) this.#compactedFrom = this.#parts.sent.fork(this.#parts.moment().newest)
  }

  /** Charges for a pending summary. */
  compaction(request: RecordedRequest): void {
    const before = this.#compactedFrom
    this.#compactedFrom = undefined
    if (before) this.#summary(request, before)
  }

  /** Charges for a summary, whose request read the view from the cache or was sent it again. */
  #summary(request: RecordedRequest, before: SentContext): void {
    const { recording, policy, bill, after, estimate, charge } = this.#parts
    const { now, isSending } = this.#parts.moment()
    const at = { ...request, at: now }
    const { kind = "fork", ...limits } = policy.summarizer ?? {}
    const sent =
      kind === "fork"
        ? isSending
          ? bill.cachedInTurn(before, request, { writes: false })
          : bill.cached(before, at, { writes: false })
        : { ...NO_TOKENS, input: summarizerInputTokens(before, limits) }
    charge("summary", { request: at, counts: summaryCounts(recording, { sent, shown: after.summaryTokens(estimate) }) })
  }
}
