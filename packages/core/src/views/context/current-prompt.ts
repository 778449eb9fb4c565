/** The prompt in force: what every request carries around the messages, and its size. */

import type { DecisionEntry } from "../../journal/entries.ts"
import type { Message } from "../../messages/messages.ts"
import type { ToolDefinition } from "../../messages/request.ts"
import { declaredTools } from "../../messages/tool-references.ts"
import type { Estimator, Measure } from "../../tokens/estimate.ts"

export type RenderedPrompt = Extract<DecisionEntry, { subtype: "prompt-rendered" }>

export interface PromptSize {
  /** As a response measured the present one. */
  readonly tokens?: number
  /** Of a measured one to its estimate. */
  readonly ratio: number
}

export class CurrentPrompt {
  readonly #estimator: Estimator
  #prompt: RenderedPrompt | undefined
  #measure: Measure | undefined
  #texts = ""
  #size: PromptSize | undefined

  constructor(estimator: Estimator, saved?: RenderedPrompt, size?: PromptSize) {
    this.#estimator = estimator
    if (saved) this.take(saved)
    this.#size = size
  }

  get rendered(): RenderedPrompt | undefined {
    return this.#prompt
  }

  get toolNames(): readonly string[] {
    const tools = this.#prompt?.tools
    return Array.isArray(tools) ? tools.map(({ name }: { name: unknown }) => String(name)) : []
  }

  /** System prompt, tools, preamble: as a response measured them, or estimated as far off as those before. */
  get tokens(): number {
    const { tokens, ratio = 1 } = this.#size ?? {}
    return Math.ceil(tokens ?? this.estimate * ratio)
  }

  get estimate(): number {
    return this.#measure ? this.#estimator.unscaled(this.#measure) : 0
  }

  /** What responses have said about its size. */
  get size(): PromptSize | undefined {
    return this.#size
  }

  settle(tokens: number): void {
    this.#size = { tokens, ratio: tokens / this.estimate }
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
    const isSame = texts.join("\n") === this.#texts
    this.#texts = texts.join("\n")
    if (!isSame && this.#size) this.#size = { ratio: this.#size.ratio }
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
