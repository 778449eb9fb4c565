/**
 * References to tools that the request cannot resolve are sent as text: the model does not know references, or the tool is not in the request.
 * The API would refuse the whole conversation otherwise. A message without such a reference stays the same object.
 */
import { type Block, isToolResult, resultBlocks, type ToolResult } from "../../messages/blocks.ts"
import type { FlatMessage } from "../../messages/flatten.ts"
import type { ToolDefinition } from "../../messages/request.ts"
import { nameOf, referencesIn } from "../../messages/tool-references.ts"

export class ReferenceResolver {
  readonly #knowsReferences: boolean
  #tools: unknown
  #names: ReadonlySet<string> = new Set()
  #resolved = new WeakMap<FlatMessage, FlatMessage>()

  constructor(knowsReferences: boolean) {
    this.#knowsReferences = knowsReferences
  }

  resolve(messages: readonly FlatMessage[], tools: unknown): readonly FlatMessage[] {
    this.#use(tools)
    return messages.map((message) => {
      const known = this.#resolved.get(message)
      if (known) return known
      const resolved = this.#resolve(message)
      this.#resolved.set(message, resolved)
      return resolved
    })
  }

  #use(tools: unknown): void {
    if (tools === this.#tools) return
    this.#tools = tools
    this.#resolved = new WeakMap()
    const offered = this.#knowsReferences && Array.isArray(tools) ? (tools as readonly ToolDefinition[]) : []
    this.#names = new Set(offered.flatMap((tool) => nameOf(tool) ?? []))
  }

  #resolve(message: FlatMessage): FlatMessage {
    const isSound = (block: Block) => {
      const names = referencesIn(block)
      if (names.length === 0) return true
      const isMixed = names.length < resultBlocks(block as ToolResult).length
      return !isMixed && names.every((name) => this.#names.has(name))
    }
    if (message.content.every(isSound)) return message
    const content = message.content.map((block) => (isSound(block) || !isToolResult(block) ? block : inWords(block)))
    return { ...message, content }
  }
}

function inWords(result: ToolResult): ToolResult {
  const content = resultBlocks(result).map((block) => {
    const { type, tool_name } = block as { readonly type: string; readonly tool_name?: string }
    return type === "tool_reference"
      ? { type: "text" as const, text: `[The tool ${tool_name} was loaded here.]` }
      : block
  })
  return { ...result, content } as ToolResult
}
