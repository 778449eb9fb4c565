/**
 * What a door keeps on a block: fields of a framework's own message that the Messages API has no place for, such as another provider's
 * signature of a call. Blocks keep it in the journal and in every view, so that the door can give back what the framework sent. The API
 * does not know the field.
 */
import { type Block, isToolResult } from "./blocks.ts"
import type { ModelRequest } from "./request.ts"

type Fields = Readonly<Record<string, unknown>>

export const doorOf = (item: object): Fields => (item as { readonly door?: Fields }).door ?? {}

/** A request that the API takes. The same object where no door has kept anything. */
export function withoutDoors<T extends Pick<ModelRequest, "messages" | "system">>(request: T): T {
  const messages = mapped(request.messages, (message) => {
    const { content } = message
    const blocks = typeof content === "string" ? content : mapped(content as readonly Block[], bare)
    return blocks === content ? outside(message) : outside({ ...message, content: blocks } as typeof message)
  })
  const system = Array.isArray(request.system) ? mapped(request.system, outside) : request.system
  return messages === request.messages && system === request.system ? request : { ...request, messages, system }
}

function bare(block: Block): Block {
  const inner =
    isToolResult(block) && Array.isArray(block.content) ? mapped(block.content as readonly Block[], outside) : undefined
  return outside(
    inner && isToolResult(block) && inner !== block.content ? ({ ...block, content: inner } as Block) : block,
  )
}

function outside<T extends object>(item: T): T {
  if (!("door" in item)) return item
  const { door: _, ...rest } = item
  return rest as unknown as T
}

/** The list itself where nothing changes. */
function mapped<T>(items: readonly T[], change: (item: T) => T): T[] {
  const changed = items.map(change)
  return changed.every((item, at) => item === items[at]) ? (items as T[]) : changed
}
