/**
 * Simulates notes without a model: a replay uses the extractive text of all policies. They are charged when writing begins, and available
 * after the time that a model would take.
 */

import type { Message, Uuid } from "@strata/core"
import type { LayerContext } from "@strata/core/policy"
import { offline, type WriteNotes } from "@strata/core/policy"

/** Token counts of a request for notes. */
export interface NotesRequest {
  /**
   * Tokens of the notes after the request, and of the messages since the last update. `since` and `before` are absent for the first notes.
   */
  readonly tokens: number
  readonly since?: number
  readonly before?: number
}

interface ReplayedNotesOptions {
  /** Seconds that one request takes. */
  readonly seconds: number
  readonly now: () => Date
  readonly pay: (request: NotesRequest) => void
  readonly waited: (ms: number) => void
}

interface Pending {
  readonly at: number
  readonly resolve: () => void
}

export class ReplayedNotes {
  readonly #parts: ReplayedNotesOptions
  #pending: Pending | undefined

  constructor(parts: ReplayedNotesOptions) {
    this.#parts = parts
  }

  /** When the notes that are being written will be available. */
  get due(): number | undefined {
    return this.#pending?.at
  }

  finish(): void {
    this.#pending?.resolve()
    this.#pending = undefined
  }

  readonly write: WriteNotes = async (context) => {
    const { views, journal, size } = context
    const messages = complete(context)
    const through = messages.at(-1)?.uuid
    const before = await journal.readNotes()
    if (through === undefined) return undefined
    const text = await textOf(context, messages)
    const tokens = Math.ceil(views.estimator.text(text))
    this.#parts.pay({ tokens, ...sinceIn(context, messages) })
    await this.#aWhile()
    await journal.writeNotes(text, before ?? null)
    const facts = { throughUuid: through, tokens, contextTokens: size.tokens }
    return { drafts: [{ type: "strata", subtype: "notes-updated", ...facts }] }
  }

  /** Waits for notes: the remaining time passes instantly. */
  readonly wait = (ms: number, signal: AbortSignal): Promise<void> => {
    const left = Math.max(0, (this.#pending?.at ?? 0) - this.#parts.now().getTime())
    this.#parts.waited(Math.min(left, ms))
    if (left > ms) return Promise.resolve()
    this.finish()
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }))
  }

  #aWhile(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#pending = { at: this.#parts.now().getTime() + this.#parts.seconds * 1_000, resolve }
    return promise
  }
}

/** Messages up to the last one whose calls all have results. */
function complete({ views }: LayerContext): readonly Message[] {
  const messages = views.context.storedMessages()
  const open = messages.at(-1)?.type === "assistant" && hasCalls(messages.at(-1)!)
  return open ? messages.slice(0, messages.findLastIndex(({ type }) => type !== "assistant") + 1) : messages
}

const hasCalls = (message: Message): boolean =>
  message.type === "assistant" &&
  Array.isArray(message.message.content) &&
  message.message.content.some(({ type }) => type === "tool_use")

async function textOf(context: LayerContext, messages: readonly Message[]): Promise<string> {
  const cut = { kind: "all", summarised: messages, preserved: [] } as const
  const input = { context, order: { trigger: "auto" }, cut, onProgress: () => undefined }
  const outcome = await offline().summarise(input as never)
  if (outcome.kind !== "summary") throw new Error("quotations are switched off")
  return outcome.text.replace(/^Summary:\n/, "")
}

function sinceIn({ views }: LayerContext, messages: readonly Message[]): Pick<NotesRequest, "since" | "before"> {
  const { throughUuid, tokens } = views.notes as { throughUuid?: Uuid; tokens?: number }
  if (throughUuid === undefined || tokens === undefined) return {}
  const at = messages.findIndex(({ uuid }) => uuid === throughUuid)
  const since = views.estimator.blocks(messages.slice(at + 1).flatMap(contentIn) as never)
  return { before: tokens, since }
}

const contentIn = (message: Message): readonly unknown[] =>
  (message.type === "user" || message.type === "assistant") && Array.isArray(message.message.content)
    ? message.message.content
    : []
