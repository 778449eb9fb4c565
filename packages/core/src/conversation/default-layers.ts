/** The layers a conversation runs by default, cheapest first. Each has a switch. */

import type { Clock } from "../base/clock.ts"
import type { ForkParent } from "../forks/fork.ts"
import { withoutTools } from "../forks/fork-state.ts"
import { toolResultStorage } from "../layers/1-tool-results/tool-result-storage.ts"
import { microcompaction } from "../layers/2-microcompact/microcompaction.ts"
import { sessionMemory } from "../layers/3-session-memory/session-memory.ts"
import { compaction } from "../layers/4-compaction/compaction.ts"
import type { CompactionOptions } from "../layers/4-compaction/options.ts"
import type { Layer } from "../layers/layer.ts"
import type { Model } from "../model/model.ts"
import { forgetCalls } from "../tools/files/read-state.ts"
import type { ReadState } from "../tools/tool.ts"

/** What the layers of an agent work with: its model, its tools, and its surroundings. */
export interface LayerSurroundings
  extends Omit<ForkParent, "request" | "openCalls">,
    Pick<
      CompactionOptions,
      "summariser" | "offline" | "hooks" | "guidance" | "excluded" | "mayRead" | "autonomous" | "timing"
    > {
  /** The directory of a custom template and prompt for notes. */
  readonly notesConfig?: string
  /** The reads that forks start with. Default: `reads`. */
  readonly readsInView?: ReadState
}

export function defaultLayers(surroundings: LayerSurroundings): readonly Layer[] {
  const { model, tools, reads, toolContext, notesConfig, readsInView = reads, ...rest } = surroundings
  const forget = (toolUseIds: readonly string[]) => forgetCalls(reads, new Set(toolUseIds))
  const limitsItself = tools.filter((tool) => tool.limitsItself).map(({ name }) => name)
  const parent = { model, tools, reads: readsInView, toolContext }
  const notes = sessionMemory({ ...parent, ...(notesConfig === undefined ? {} : { configDirectory: notesConfig }) })
  return [
    toolResultStorage({ limitsItself, onPutAside: forget }),
    microcompaction({ onCleared: forget }),
    notes,
    compaction({ parent, reads, notes, ...rest }),
  ]
}

export interface OwnLoop {
  /** Asked for notes and summaries. It reads what your own requests wrote to the server's cache. */
  readonly model: Model
  readonly clock: Clock
  /** True if requests are sent with `client.beta.messages`: the server may then be asked to clear old results. */
  readonly serverClears?: boolean
  /** The directory of a custom template and prompt for notes. */
  readonly notesConfig?: string
}

/** The layers for a loop of your own: your SDK, your tools. Notes come as text, because your tools run in your loop. */
export function ownLoopLayers({ model, clock, serverClears = false, notesConfig }: OwnLoop): readonly Layer[] {
  const parent = { model, ...withoutTools(clock) }
  const notes = sessionMemory({ ...parent, ...(notesConfig === undefined ? {} : { configDirectory: notesConfig }) })
  return [toolResultStorage(), microcompaction({ serverClears }), notes, compaction({ parent, notes })]
}
