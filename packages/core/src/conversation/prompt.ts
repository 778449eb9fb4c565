/** What surrounds the messages of every request, rendered once and then sent unchanged. */

import type { DecisionOf } from "../journal/entries.ts"
import { renderPreamble } from "../messages/preamble.ts"
import type { SystemPrompt, ToolDefinition } from "../messages/request.ts"

export interface Prompt {
  readonly system?: SystemPrompt
  readonly tools?: readonly ToolDefinition[]
  /** Titled texts sent before the conversation: project instructions, a memory index. */
  readonly context?: Readonly<Record<string, string>>
}

export type RenderedParts = Pick<DecisionOf<"prompt-rendered">, "system" | "tools" | "context">

export interface PromptInput {
  readonly prompt: Prompt
  /** The prompt in the journal. Anything left out of the new one continues from it. */
  readonly current: RenderedParts | undefined
  readonly estimate: (text: string) => number
  /** In tokens, for all context texts together. */
  readonly contextLimit: number
}

export function renderPrompt({ prompt, current, estimate, contextLimit }: PromptInput): RenderedParts {
  const context =
    prompt.context === undefined
      ? (current?.context ?? "")
      : renderPreamble({ texts: prompt.context, estimate, limit: contextLimit })
  return asJournaled({
    system: prompt.system ?? current?.system ?? "",
    tools: prompt.tools ?? current?.tools ?? [],
    context,
  })
}

export function isSamePrompt(a: RenderedParts, b: RenderedParts): boolean {
  return bytesOf(a) === bytesOf(b)
}

const bytesOf = ({ system, tools, context }: RenderedParts) => JSON.stringify({ system, tools, context })

/** A copy, as the journal would return it. Later changes to the caller's objects do not reach a request. */
const asJournaled = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T
