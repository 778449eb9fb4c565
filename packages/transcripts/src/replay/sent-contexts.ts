/**
 * The requests as the server receives them: the messages in view, after the edits that the layers request. Every response reports what the
 * server has cleared for it.
 */

import { CLEAR_THINKING, CLEAR_TOOL_USES, callsKeptBy } from "@strata/core/model"
import type { LayerPipeline, RequestSender } from "@strata/core/policy"
import type { EntryDraft } from "@strata/core/store"
import type { ModelFacts } from "@strata/core/tokens"
import type { Views } from "@strata/core/views"
import type { SentContext } from "./bill.ts"
import { withoutForgottenThinking } from "./forgotten-thinking.ts"
import type { MeasuredRecording } from "./measured-recording.ts"
import type { RecordedRequest } from "./recorded-steps.ts"
import { SentMessages } from "./sent-messages.ts"
import { ServerContext, type ServerEdit, type ServerMemory, tokensOf } from "./server-context.ts"

export interface SentContextsDependencies {
  readonly recording: MeasuredRecording
  readonly views: Views
  readonly layers: LayerPipeline
  readonly server: ServerMemory
  /** Facts of the current model. */
  readonly facts: () => ModelFacts
}

export class SentContexts {
  readonly #parts: SentContextsDependencies
  readonly #messages: SentMessages
  readonly #server: ServerContext
  #unreported: EntryDraft | undefined

  constructor(parts: SentContextsDependencies) {
    this.#parts = parts
    this.#messages = new SentMessages(parts.recording.sizes)
    this.#server = new ServerContext(parts.server)
  }

  /** A request of the conversation, and what the server newly clears for it. */
  conversation(request: RecordedRequest): { readonly sent: SentContext; readonly edit: ServerEdit } {
    const { sent, edit, taken, context_management } = this.#edited(request, "conversation")
    const isEdited = sent.messages.some(({ items }) => items.some(({ isCleared }) => isCleared))
    const keptFrom = this.#parts.views.context.serverCopy.firstOf(callsKeptBy({ context_management }))
    // without the tokens, the smaller count would teach that estimates are too large
    const edits = [{ type: isEdited ? CLEAR_TOOL_USES : CLEAR_THINKING, cleared_input_tokens: taken }]
    this.#unreported =
      taken > 0
        ? { type: "strata", subtype: "server-edited", edits, ...(isEdited && keptFrom ? { keptFrom } : {}) }
        : undefined
    return { sent, edit }
  }

  /** A fork requests the same server edits as the newest request, so it reads the same cache. */
  fork(request: RecordedRequest): SentContext {
    return this.#edited(request, "fork").sent
  }

  /** The report of the newest response, returned once. */
  reported(): readonly EntryDraft[] {
    const report = this.#unreported
    this.#unreported = undefined
    return report ? [report] : []
  }

  #edited({ number }: RecordedRequest, sender: RequestSender) {
    const { recording, views, layers, facts } = this.#parts
    const { context_management } = layers.requestExtras(sender)
    const prompt = recording.prompts[number] ?? 0
    const shown = withoutForgottenThinking(views.context.messages().messages, facts())
    const whole = shown.map((message) => this.#messages.of(message))
    const { messages, edit } = this.#server.edit(whole, { edits: context_management?.edits ?? [], prompt })
    const taken = tokensOf(whole) - tokensOf(messages)
    return { sent: { messages, prompt }, edit, taken, context_management }
  }
}
