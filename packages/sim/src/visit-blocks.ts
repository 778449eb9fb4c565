/** The blocks of a body in prompt order (system, then messages), each with its path. */
import { blocksOf, nestedBlocks } from "./conversation.ts"
import type { Block, MessagesBody } from "./wire.ts"

export interface VisitedBlock {
  readonly path: string
  readonly block: Block
}

/** Every block; nested ones come after the block they are in. */
export function* visitBlocks(body: MessagesBody): Generator<VisitedBlock> {
  for (const visited of topLevelBlocks(body)) yield* withNested(visited)
}

export function topLevelBlocks({ system, messages }: MessagesBody): readonly VisitedBlock[] {
  return [
    ...placed(blocksOf(system), "system"),
    ...messages.flatMap(({ content }, index) => placed(blocksOf(content), `messages.${index}.content`)),
  ]
}

function* withNested({ path, block }: VisitedBlock): Generator<VisitedBlock> {
  yield { path, block }
  const { field, blocks } = nestedBlocks(block)
  for (const inner of placed(blocks, `${path}.${field}`)) yield* withNested(inner)
}

const placed = (blocks: readonly Block[], path: string): readonly VisitedBlock[] =>
  blocks.map((block, index) => ({ path: `${path}.${index}`, block }))
