/** Takes in what the model answered: the message, what the server did to the request, what it cost; and tells those who listen. */
import { InvalidContentError } from "../base/errors.ts"
import type { Events } from "../base/events.ts"
import type { Telemetry } from "../base/telemetry.ts"
import type { Draft, Entry } from "../journal/entries.ts"
import type { Journal } from "../journal/store.ts"
import { type Block, frozenCopy } from "../messages/blocks.ts"
import type { Uuid } from "../messages/messages.ts"
import { usableUsage } from "../messages/usage.ts"
import { clearedCalls } from "../model/context-management.ts"
import type { ModelResponse } from "../model/model.ts"
import type { ModelFacts } from "../tokens/model-facts.ts"
import { costOfUsage, tokenCounts } from "../tokens/price.ts"
import type { CacheWatch } from "./cache-watch.ts"
import type { ConversationEvents } from "./events.ts"

export interface ResponseRecorderParts {
  readonly journal: Journal
  readonly telemetry: Telemetry
  readonly maxTokens: number
  readonly factsOf: (model: string) => ModelFacts
  readonly cache: CacheWatch
  readonly events: Events<ConversationEvents>
  readonly append: (drafts: readonly Draft[]) => Promise<readonly Entry[]>
  /** The first call whose result the server leaves alone where it clears the request that was answered. */
  readonly serverKeeps: () => string | undefined
}

export class ResponseRecorder {
  readonly #parts: ResponseRecorderParts

  constructor(parts: ResponseRecorderParts) {
    this.#parts = parts
  }

  async record(response: ModelResponse): Promise<Uuid> {
    const { id, model, content, stop_reason, stop_sequence = null } = response
    if (!Array.isArray(content)) throw new InvalidContentError("the response has no list of content blocks")
    const { append, journal, cache } = this.#parts
    const usage = usableUsage(response.usage)
    const message = {
      id,
      type: "message",
      role: "assistant" as const,
      model,
      content: frozenCopy(content as Block[]),
      stop_reason,
      stop_sequence,
      ...(usage ? { usage } : {}),
    }
    const [entry] = await append([{ type: "assistant", message }])
    await this.#recordServerEdits(response)
    await journal.sync()
    this.#tell(response, usage)
    if (usage) cache.settled({ ...response, usage })
    return entry!.uuid
  }

  /** Keeps what was streamed of an answer that never came to its end. */
  async recordPartial({ id, text, model }: { id: string; text: string; model: string }): Promise<Uuid> {
    const content = [{ type: "text" as const, text }]
    const message = { id, role: "assistant" as const, model, content, stop_reason: null }
    return (await this.#parts.append([{ type: "assistant", message }]))[0]!.uuid
  }

  async #recordServerEdits({ context_management }: ModelResponse): Promise<void> {
    const edits = context_management?.applied_edits ?? []
    if (edits.length === 0) return
    const keptFrom = clearedCalls(edits) ? this.#parts.serverKeeps() : undefined
    await this.#parts.append([{ type: "strata", subtype: "server-edited", edits, ...(keptFrom ? { keptFrom } : {}) }])
  }

  #tell({ id, model, stop_reason }: ModelResponse, usage: ReturnType<typeof usableUsage>): void {
    const { telemetry, journal, maxTokens, factsOf, events } = this.#parts
    const counts = usage ? tokenCounts(usage) : undefined
    const stopReason = stop_reason ?? undefined
    telemetry.recorded(
      { conversation: journal.address.id, model, maxTokens, purpose: "main" },
      { responseId: id, responseModel: model, ...(stopReason ? { stopReason } : {}), ...(counts ? { counts } : {}) },
    )
    events.emit("recorded", {
      counts,
      cost: usage ? costOfUsage(factsOf(model), usage) : { known: false, why: "no usage was reported" },
      stopReason,
    })
  }
}
