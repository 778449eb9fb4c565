/** Records the model's response: the message, the server's edits of the request, and the cost. */
import type { Telemetry } from "../base/telemetry.ts"
import type { Uuid } from "../messages/messages.ts"
import { type ProviderReason, providerReason } from "../model/cache/verdict.ts"
import type { Settings } from "../settings/settings.ts"
import { costOfUsage, findModel, tokenCounts } from "../tokens/models.ts"
import { clearedByServer, clearedCalls } from "../views/context/server-side.ts"
import { asPlainJson, type IncomingResponse, type ResponseDraft, responseDraft } from "./incoming.ts"
import type { ConversationRecord } from "./record.ts"
import type { LastRequest } from "./request-preparer.ts"
import type { CacheWatch } from "./watches.ts"
import type { Window } from "./window.ts"

export interface ResponseRecorderDependencies {
  readonly record: ConversationRecord
  readonly telemetry: Telemetry
  /** Whether the model reports its requests to telemetry itself. */
  readonly isTraced: boolean
  readonly provider: string
  readonly window: Window
  /** Model facts in the settings. */
  readonly models: Settings["models"]
  readonly cache: CacheWatch
  /** The conversation's model, for responses that do not name theirs. */
  readonly model: string
}

/** The recorded parts of a response. */
export interface ReceivedResponse {
  readonly draft: ResponseDraft
  /** Edits that the server made to its own copy of the request. */
  readonly edits: readonly unknown[]
  /** Reason for a cache miss, as reported by the provider. */
  readonly missed: ProviderReason | undefined
}

export interface RecordedResponse {
  readonly uuid: Uuid
  readonly stopReason: string | null
}

export class ResponseRecorder {
  readonly #parts: ResponseRecorderDependencies

  constructor(parts: ResponseRecorderDependencies) {
    this.#parts = parts
  }

  /** Validates a response and copies the parts to record. */
  read(response: IncomingResponse): ReceivedResponse {
    const draft = responseDraft(response, this.#parts.model)
    const applied = response.context_management?.applied_edits
    const edits = asPlainJson(Array.isArray(applied) ? applied : [], "context_management.applied_edits")
    return { draft, edits, missed: providerReason(response.diagnostics) }
  }

  /** Records a response. `sent`: its request, which a resumed conversation may not know. */
  async take({ draft, edits, missed }: ReceivedResponse, sent: LastRequest | undefined): Promise<RecordedResponse> {
    const { record, cache } = this.#parts
    const [entry] = await record.decide([draft], { flush: true })
    await this.#recordServerEdits(edits, sent?.serverKeeps)
    await record.written()
    const durable = record.durable()
    durable.catch(() => undefined) // awaited below, while other work is done
    this.#report(draft, sent?.at)
    const { usage } = draft.message
    if (usage) cache.settled({ usage, edits, missed })
    await durable
    return { uuid: entry!.uuid, stopReason: draft.message.stop_reason ?? null }
  }

  /** Records a response that is not part of the conversation: only its cost. */
  async takeAside({ draft }: ReceivedResponse): Promise<Uuid> {
    const { id, model = this.#parts.model, usage } = draft.message
    const responseId = id ?? this.#parts.record.ids.uuid()
    if (usage)
      await this.#parts.record.append([
        { type: "strata", subtype: "spent", purpose: "compaction", model, responseId, usage },
      ])
    return responseId
  }

  /** Records the streamed part of a response that never ended. */
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
