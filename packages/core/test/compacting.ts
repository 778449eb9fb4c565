/** Opens conversations in memory with only the compaction layer and a summariser in the same process. */

import type { Conversation } from "../src/conversation/conversation.ts"
import type { ConversationOptions } from "../src/conversation/options.ts"
import type { ForkToolState } from "../src/forks/fork.ts"
import { compaction } from "../src/layers/4-compaction/compaction.ts"
import type { CompactionOptions } from "../src/layers/4-compaction/options.ts"
import type { Layer } from "../src/layers/layer.ts"
import type { Model } from "../src/model/model.ts"
import { FileReads } from "../src/tools/files/read-state.ts"
import { openTestConversation } from "./open.ts"
import { SUMMARISER } from "./summariser.ts"

export interface CompactingOptions extends Partial<ConversationOptions> {
  readonly summariser: Model
  readonly window?: number
  readonly compaction?: Partial<CompactionOptions>
  /** Layers that run before the compaction. */
  readonly earlier?: readonly Layer[]
}

export function openCompacting({
  summariser: model,
  window,
  compaction: options = {},
  earlier = [],
  ...rest
}: CompactingOptions): Promise<Conversation> {
  const reads = options.reads ?? new FileReads()
  const parent = { model, tools: [], reads, toolContext: toolState }
  const timing = { every: () => () => undefined, wait: async () => undefined }
  return openTestConversation({
    ...rest,
    model: SUMMARISER,
    layers: [...earlier, compaction({ parent, reads, timing, ...options })],
    settings: {
      ...(window === undefined ? {} : { models: { [SUMMARISER]: { window } } }),
      ...rest.settings,
      switches: { ...AT_ONCE, ...rest.settings?.switches },
    },
  })
}

/** Makes the request that needs a summary wait for it, so that a test knows when the compaction comes. Tests of waiting do not use this. */
export const AT_ONCE = { "compact-ahead": false }

export const toolState: ForkToolState = {
  env: {},
  clock: { now: () => new Date(0) },
  directory: { get: () => "/nowhere", set: () => undefined },
  todos: { get: () => [], set: () => undefined },
  plan: { isActive: () => false, enter: () => undefined, leave: async () => ({ approved: false }) },
}
