/** The layers an agent runs with, cheapest first. Each has its switch. */
import { toolResultStorage } from "../layers/1-tool-results/tool-result-storage.ts"
import { microcompaction } from "../layers/2-microcompact/microcompaction.ts"
import { sessionMemory } from "../layers/3-session-memory/session-memory.ts"
import { compaction } from "../layers/4-compaction/compaction.ts"
import type { CompactionOptions } from "../layers/4-compaction/options.ts"
import type { ForkParent } from "../layers/7-agents/fork.ts"
import type { Layer } from "../layers/layer.ts"
import { forgetCalls } from "../tools/read-state.ts"

/** What the layers work with: the model and tools of the conversation, and what surrounds it. */
export interface LayerSurroundings
  extends Omit<ForkParent, "request" | "openCalls">,
    Pick<CompactionOptions, "summariser" | "offline" | "hooks" | "guidance" | "excluded" | "autonomous" | "timing"> {
  /** Where a template and a prompt for notes may lie. */
  readonly notesConfig?: string
}

export function defaultLayers(surroundings: LayerSurroundings): readonly Layer[] {
  const { model, tools, reads, toolContext, notesConfig, ...rest } = surroundings
  const forget = (toolUseIds: readonly string[]) => forgetCalls(reads, new Set(toolUseIds))
  const limitsItself = tools.filter((tool) => tool.limitsItself).map(({ name }) => name)
  const parent = { model, tools, reads, toolContext }
  const notes = sessionMemory({ ...parent, ...(notesConfig === undefined ? {} : { configDirectory: notesConfig }) })
  return [
    toolResultStorage({ limitsItself, onPutAside: forget }),
    microcompaction({ onCleared: forget }),
    notes,
    compaction({ parent, reads, notes, ...rest }),
  ]
}
