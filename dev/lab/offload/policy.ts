/** The proxy's policy for a recorded conversation, with other sizes from which results are offloaded. */

import { FILE_READERS } from "../../../packages/adapters/src/clients/client-tools.ts"
import { CLIENT_SETTINGS } from "../../../packages/adapters/src/clients/conversations.ts"
import { toolResultStorage } from "../../../packages/core/src/layers/1-tool-results/tool-result-storage.ts"
import { microcompaction } from "../../../packages/core/src/layers/2-microcompact/microcompaction.ts"
import { compaction } from "../../../packages/core/src/layers/4-compaction/compaction.ts"
import { offline } from "../../../packages/core/src/layers/4-compaction/summarise/route.ts"
import { AS_RECORDED } from "../../../packages/transcripts/src/replay/policies/clearing-only.ts"
import { layered } from "../../../packages/transcripts/src/replay/policies/layered.ts"

/** Sizes in characters, as in the settings `tool-result-limit` and `tool-result-preview`. */
export interface Sizes {
  readonly limit: number
  readonly preview: number
}

/** The client alone: its recorded requests and compactions, without the price of the summaries. */
export const DIRECT = AS_RECORDED

export const nameOf = ({ limit, preview }: Sizes): string => `from ${limit}, preview ${preview}`

/**
 * The layers of `openConversation` with the settings of the proxy. The client places the cache breakpoints, and no request keeps the cache
 * warm.
 */
export const behindAClient = (sizes: Sizes) =>
  layered({
    name: nameOf(sizes),
    about: `Strata through the proxy, with results of more than ${sizes.limit} characters put aside.`,
    layers: ({ notes, timing }) => [
      toolResultStorage({ limitsItself: FILE_READERS }),
      microcompaction({ serverClears: false }),
      notes,
      compaction({ offline: offline(), notes, timing }),
    ],
    settings: { cacheLifetime: CLIENT_SETTINGS.cacheLifetime!, switches: CLIENT_SETTINGS.switches! },
    figures: {
      ...CLIENT_SETTINGS.figures,
      "tool-result-limit": sizes.limit,
      "tool-result-preview": sizes.preview,
    },
    readsFiles: true,
  })
