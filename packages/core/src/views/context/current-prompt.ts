/** The prompt in force: what every request carries around the messages, and its size. */

import type { DecisionEntry } from "../../journal/entries.ts"
import type { Message } from "../../messages/messages.ts"
import type { ToolDefinition } from "../../messages/request.ts"
import { declaredTools } from "../../messages/tool-references.ts"
import type { Estimator, Measure } from "../../tokens/estimate.ts"

export type RenderedPrompt = Extract<DecisionEntry, { subtype: "prompt-rendered" }>

export class CurrentPrompt {
  readonly #estimator: Estimator
  #prompt: RenderedPrompt | undefined
  #measure: Measure | undefined

  constructor(estimator: Estimator, saved?: RenderedPrompt) {
    this.#estimator = estimator
    if (saved) this.take(saved)
  }

  get rendered(): RenderedPrompt | undefined {
    return this.#prompt
  }

  get toolNames(): readonly string[] {
    const tools = this.#prompt?.tools
    return Array.isArray(tools) ? tools.map(({ name }: { name: unknown }) => String(name)) : []
  }

  /** Estimated: system prompt, tools, preamble. */
  get tokens(): number {
    return this.#measure ? Math.ceil(this.#estimator.tokens(this.#measure)) : 0
  }

  /** Returns whether the preamble has changed. */
  take(prompt: RenderedPrompt): boolean {
    const { system, tools, context } = prompt
    const offered = Array.isArray(tools) ? (tools as readonly ToolDefinition[]) : []
    const declared = declaredTools(offered)
    const texts = [textIn(system), declared.length > 0 ? JSON.stringify(declared) : "", context]
    this.#estimator.knowTools(offered)
    const hasChanged = context !== (this.#prompt?.context ?? "")
    this.#prompt = prompt
    this.#measure = this.#estimator.measure(texts.filter(Boolean).map((text) => ({ type: "text", text })))
    return hasChanged
  }

  /** The context preamble, which comes before all messages. */
  get preamble(): Message | undefined {
    if (!this.#prompt?.context) return undefined
    const { uuid, timestamp, context } = this.#prompt
    const message = { role: "user" as const, content: context }
    return { type: "user", uuid, parentUuid: null, timestamp, isMeta: true, message }
  }
}

const textIn = (system: unknown): string => (typeof system === "string" ? system : JSON.stringify(system ?? ""))
