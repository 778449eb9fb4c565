/**
 * A request's messages as turns. Consecutive messages of one role are one turn, and content is always a list of blocks. Every block keeps
 * its position in the body, so that errors can name it.
 */
import type { Block, MessageParam, MessagesBody, Role } from "./wire.ts"

export interface PlacedBlock {
  readonly block: Block
  /** Index of the message in the body. */
  readonly message: number
  /** Index of the block in that message. */
  readonly position: number
}

export interface Turn {
  readonly role: Role
  readonly blocks: readonly PlacedBlock[]
}

export const pathOf = ({ message, position }: PlacedBlock) => `messages.${message}.content.${position}`

/** Content as a list of blocks. A string is one block, an empty string is no block. */
export function blocksOf(content: string | readonly Block[] | null | undefined): readonly Block[] {
  if (typeof content !== "string") return content ?? []
  return content === "" ? [] : [{ type: "text", text: content }]
}

export interface NestedBlocks {
  /** The field that holds the nested blocks. */
  readonly field: "content" | "source.content"
  readonly blocks: readonly Block[]
}

/** The blocks inside a block. Results of server tools are skipped, because each has its own shape. */
export function nestedBlocks({ type, content, source }: Block): NestedBlocks {
  const listed = (inner: Block["content"]) => (typeof inner === "string" ? [] : (inner ?? []))
  if (type === "document") return { field: "source.content", blocks: listed(source?.content) }
  return { field: "content", blocks: type === "tool_result" || type === "search_result" ? listed(content) : [] }
}

/** Merges the messages of a body into turns. A system message that only has an `output_config` is not one. */
export function toTurns(messages: readonly MessageParam[]): readonly Turn[] {
  const turns: { role: Role; blocks: PlacedBlock[] }[] = []
  messages.forEach(({ role, content, output_config }, message) => {
    if (role === "system" && output_config && !content?.length) return
    const placed = blocksOf(content).map((block, position) => ({ block, message, position }))
    const last = turns.at(-1)
    if (last?.role === role) last.blocks.push(...placed)
    else turns.push({ role, blocks: placed })
  })
  return turns
}

/** The turns with every block replaced by what `change` returns. A block is dropped if it returns `undefined`. */
export function mapBlocks(turns: readonly Turn[], change: (placed: PlacedBlock) => Block | undefined): readonly Turn[] {
  const mapped = turns.map((turn) => {
    const changed = turn.blocks.map(change)
    if (turn.blocks.every(({ block }, index) => block === changed[index])) return turn
    const blocks = turn.blocks.flatMap((placed, index) => {
      const block = changed[index]
      return block ? [{ ...placed, block }] : []
    })
    return { ...turn, blocks }
  })
  return mapped.filter((turn) => turn.blocks.length > 0)
}

export const isThinking = ({ type }: Block) => type === "thinking" || type === "redacted_thinking"
export const isServerToolUse = ({ type }: Block) => type === "server_tool_use" || type === "mcp_tool_use"
export const isServerToolResult = ({ type }: Block) => type !== "tool_result" && type.endsWith("_tool_result")

/** A user turn with content of the user, not only tool results. */
export const isSpoken = ({ role, blocks }: Turn) =>
  role === "user" && blocks.some(({ block }) => block.type !== "tool_result" && block.type !== "cache_edits")

export interface VisitedBlock {
  readonly path: string
  readonly block: Block
}

/** Every block in prompt order (system, then messages). Nested blocks follow the block that contains them. */
export const visitBlocks = oncePerBody((body) => topLevelBlocks(body).flatMap(withNested))

export const topLevelBlocks = oncePerBody(({ system, messages }) => [
  ...placed(blocksOf(system), "system"),
  ...messages.flatMap(({ content }, index) => placed(blocksOf(content), `messages.${index}.content`)),
])

/** Results are cached by body, because many rules ask for them and a body is long. */
function oncePerBody(visit: (body: MessagesBody) => readonly VisitedBlock[]) {
  const visited = new WeakMap<MessagesBody, readonly VisitedBlock[]>()
  return (body: MessagesBody): readonly VisitedBlock[] => {
    const known = visited.get(body) ?? visit(body)
    visited.set(body, known)
    return known
  }
}

function withNested(visited: VisitedBlock): readonly VisitedBlock[] {
  const { field, blocks } = nestedBlocks(visited.block)
  return blocks.length === 0 ? [visited] : [visited, ...placed(blocks, `${visited.path}.${field}`).flatMap(withNested)]
}

const placed = (blocks: readonly Block[], path: string): readonly VisitedBlock[] =>
  blocks.map((block, index) => ({ path: `${path}.${index}`, block }))
