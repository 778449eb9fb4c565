/**
 * What the server gets of a conversation, and what it leaves of that: the messages in view, after the edits that the layers ask it for.
 * Every response says what the server has cleared for it.
 */

import { CLEAR_THINKING, CLEAR_TOOL_USES, callsKeptBy } from "@strata/core/model"
import type { LayerPipeline, RequestSender } from "@strata/core/policy"
import type { EntryDraft } from "@strata/core/store"
import type { ModelFacts } from "@strata/core/tokens"
import type { Views } from "@strata/core/views"
import type { Sent } from "./bill.ts"
import { withoutForgottenThinking } from "./forgotten-thinking.ts"
import type { MeasuredRecording } from "./measured-recording.ts"
import type { RecordedRequest } from "./recorded-steps.ts"
import { SentMessages } from "./sent-messages.ts"
import { ServerCopy, type ServerEdit, type ServerMemory, tokensOf } from "./server-copy.ts"

export interface SentContextsParts {
  readonly recording: MeasuredRecording
  readonly views: Views
  readonly layers: LayerPipeline
  readonly server: ServerMemory
  /** Of the model that is asked. */
  readonly facts: () => ModelFacts
}

export class SentContexts {
  readonly #parts: SentContextsParts
  readonly #messages: SentMessages
  readonly #server: ServerCopy
  #unreported: EntryDraft | undefined

  constructor(parts: SentContextsParts) {
    this.#parts = parts
    this.#messages = new SentMessages(parts.recording.sizes)
    this.#server = new ServerCopy(parts.server)
  }

  /** A request of the conversation, and what the server newly clears for it. */
  conversation(request: RecordedRequest): { readonly sent: Sent; readonly edit: ServerEdit } {
    const { sent, edit, taken, context_management } = this.#edited(request, "conversation")
    const isEdited = sent.messages.some(({ items }) => items.some(({ isCleared }) => isCleared))
    const keptFrom = this.#parts.views.context.serverKept.firstOf(callsKeptBy({ context_management }))
    // without the tokens, the smaller count would teach that estimates are too large
    const edits = [{ type: isEdited ? CLEAR_TOOL_USES : CLEAR_THINKING, cleared_input_tokens: taken }]
    this.#unreported =
      taken > 0
        ? { type: "strata", subtype: "server-edited", edits, ...(isEdited && keptFrom ? { keptFrom } : {}) }
        : undefined
    return { sent, edit }
  }

  /** A fork asks the server for the edits of the newest request, so it reads the same cache. */
  fork(request: RecordedRequest): Sent {
    return this.#edited(request, "fork").sent
  }

  /** What the response to the newest request reports, once. */
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
