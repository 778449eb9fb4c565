/** Takes in the model's answer: the message, what the server did to the request, and what it cost. */
import type { Telemetry } from "../base/telemetry.ts"
import type { Uuid } from "../messages/messages.ts"
import { type ProviderReason, providerReason } from "../model/cache/verdict.ts"
import type { Settings } from "../settings/settings.ts"
import { costOfUsage, findModel, tokenCounts } from "../tokens/models.ts"
import { clearedByServer, clearedCalls } from "../views/context/server-side.ts"
import { asPlainJson, type IncomingResponse, type ResponseDraft, responseDraft } from "./incoming.ts"
import type { ConversationRecord } from "./record.ts"
import type { Sent } from "./request-preparer.ts"
import type { CacheWatch } from "./watches.ts"
import type { Window } from "./window.ts"

export interface ResponseRecorderParts {
  readonly record: ConversationRecord
  readonly telemetry: Telemetry
  /** The model itself reports its requests to telemetry. */
  readonly isTraced: boolean
  readonly provider: string
  readonly window: Window
  /** Figures of the settings. */
  readonly models: Settings["models"]
  readonly cache: CacheWatch
  /** The conversation's model, for answers that do not name theirs. */
  readonly model: string
}

/** What is kept of a response. */
export interface TakenResponse {
  readonly draft: ResponseDraft
  /** What the server cleared from its own copy of the request. */
  readonly edits: readonly unknown[]
  /** Why its cache did not have the request, as the provider says. */
  readonly missed: ProviderReason | undefined
}

export interface RecordedResponse {
  readonly uuid: Uuid
  readonly stopReason: string | null
}

export class ResponseRecorder {
  readonly #parts: ResponseRecorderParts

  constructor(parts: ResponseRecorderParts) {
    this.#parts = parts
  }

  /** Checks a response and copies what is kept of it. */
  read(response: IncomingResponse): TakenResponse {
    const draft = responseDraft(response, this.#parts.model)
    const applied = response.context_management?.applied_edits
    const edits = asPlainJson(Array.isArray(applied) ? applied : [], "context_management.applied_edits")
    return { draft, edits, missed: providerReason(response.diagnostics) }
  }

  /** `sent`: the request that was answered. A resumed conversation may not know it. */
  async take({ draft, edits, missed }: TakenResponse, sent: Sent | undefined): Promise<RecordedResponse> {
    const { record, cache } = this.#parts
    const [entry] = await record.decide([draft], { flush: true })
    await this.#recordServerEdits(edits, sent?.serverKeeps)
    await record.written()
    const durable = record.durable()
    durable.catch(() => undefined) // awaited below: while the disk works, there is something to do
    this.#report(draft, sent?.at)
    const { usage } = draft.message
    if (usage) cache.settled({ usage, edits, missed })
    await durable
    return { uuid: entry!.uuid, stopReason: draft.message.stop_reason ?? null }
  }

  /** An answer about the conversation that is no part of it: only what it cost is kept. */
  async takeAside({ draft }: TakenResponse): Promise<Uuid> {
    const { id, model = this.#parts.model, usage } = draft.message
    const responseId = id ?? this.#parts.record.ids.uuid()
    if (usage)
      await this.#parts.record.append([
        { type: "strata", subtype: "spent", purpose: "compaction", model, responseId, usage },
      ])
    return responseId
  }

  /** Keeps what was streamed of an answer that never ended. */
  async takePartial({ id, text, model }: { id: string; text: string; model: string }): Promise<Uuid> {
    const content = [{ type: "text" as const, text }]
    const message = { id, role: "assistant" as const, model, content, stop_reason: null }
    return (await this.#parts.record.append([{ type: "assistant", message }]))[0]!.uuid
  }

  async #recordServerEdits(edits: readonly unknown[], serverKeeps: string | undefined): Promise<void> {
    if (edits.length === 0) return
    const cleared = clearedByServer(edits)
    if (cleared > 0) this.#parts.telemetry.count("results.cleared.by-api", {}, cleared)
    const keptFrom = clearedCalls(edits) ? serverKeeps : undefined
    await this.#parts.record.decide([
      { type: "strata", subtype: "server-edited", edits, ...(keptFrom ? { keptFrom } : {}) },
    ])
  }

  #report({ message }: ResponseDraft, sentAt: Date | undefined): void {
    const { telemetry, isTraced, record, window, models, provider } = this.#parts
    const { id, model = this.#parts.model, stop_reason, usage, content } = message
    const counts = usage ? tokenCounts(usage) : undefined
    const stopReason = stop_reason ?? undefined
    const about = {
      conversation: record.id,
      model,
      provider,
      maxTokens: window.current.maxOutput,
      purpose: record.source,
      context: record.views.ledger.context,
    }
    if (!isTraced)
      telemetry.request({ ...about, ...(sentAt ? { sentAt } : {}) }).answered({
        responseModel: model,
        ...(id === undefined ? {} : { responseId: id }),
        ...(stopReason ? { stopReason } : {}),
        ...(counts ? { counts } : {}),
        output: () => content,
      })
    record.events.emit("recorded", {
      counts,
      cost: usage ? costOfUsage(findModel(model, models).facts, usage) : { known: false, why: "no usage was reported" },
      stopReason,
    })
  }
}
