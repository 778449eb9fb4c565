/** The layers an agent runs with, cheapest first. Each has its switch. */
import { toolResultStorage } from "../layers/1-tool-results/tool-result-storage.ts"
import { microcompaction } from "../layers/2-microcompact/microcompaction.ts"
import type { Layer } from "../layers/layer.ts"
import { forgetCalls } from "../tools/read-state.ts"
import type { ReadState, Tool } from "../tools/tool.ts"

export interface LayerSurroundings {
  readonly tools: readonly Tool[]
  readonly reads: ReadState
}

export function defaultLayers({ tools, reads }: LayerSurroundings): readonly Layer[] {
  const forget = (toolUseIds: readonly string[]) => forgetCalls(reads, new Set(toolUseIds))
  const limitsItself = tools.filter((tool) => tool.limitsItself).map(({ name }) => name)
  return [toolResultStorage({ limitsItself, onPutAside: forget }), microcompaction({ onCleared: forget })]
}
