/** CACHE-2: what stands around the messages of every request, rendered once and then sent as it was. */

import type { DecisionOf } from "../journal/entries.ts"
import { renderPreamble } from "../messages/preamble.ts"
import type { SystemPrompt, ToolDefinition } from "../messages/request.ts"

export interface Prompt {
  readonly system?: SystemPrompt
  readonly tools?: readonly ToolDefinition[]
  /** Titled texts that stand ahead of the conversation: project instructions, a memory index. */
  readonly context?: Readonly<Record<string, string>>
}

export type RenderedParts = Pick<DecisionOf<"prompt-rendered">, "system" | "tools" | "context">

export interface PromptQuestion {
  readonly prompt: Prompt
  /** What the journal has. What is not given anew goes on. */
  readonly standing: RenderedParts | undefined
  readonly estimate: (text: string) => number
  /** In tokens, for all context texts together. */
  readonly contextLimit: number
}

export function renderPrompt({ prompt, standing, estimate, contextLimit }: PromptQuestion): RenderedParts {
  const context =
    prompt.context === undefined
      ? (standing?.context ?? "")
      : renderPreamble({ texts: prompt.context, estimate, limit: contextLimit })
  return asJournaled({
    system: prompt.system ?? standing?.system ?? "",
    tools: prompt.tools ?? standing?.tools ?? [],
    context,
  })
}

export function isSamePrompt(a: RenderedParts, b: RenderedParts): boolean {
  return bytesOf(a) === bytesOf(b)
}

const bytesOf = ({ system, tools, context }: RenderedParts) => JSON.stringify({ system, tools, context })

/** A copy, as the journal gives it back: what callers do to their objects later does not reach a request. */
const asJournaled = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T
