/** What the proxy does with a recorded conversation, with other sizes from which results are put aside. */

import { FILE_READERS } from "@strata/core/internal/callers/caller-tools"
import { FOR_CALLERS } from "@strata/core/internal/callers/conversations"
import { toolResultStorage } from "@strata/core/internal/layers/1-tool-results/tool-result-storage"
import { microcompaction } from "@strata/core/internal/layers/2-microcompact/microcompaction"
import { compaction } from "@strata/core/internal/layers/4-compaction/compaction"
import { offline } from "@strata/core/internal/layers/4-compaction/summarise/offline"
import { NOTHING } from "@strata/replay/internal/policies/clearing-only"
import { layered } from "@strata/replay/internal/policies/layered"

/** In characters, as the flags `tool-result-limit` and `tool-result-preview`. */
export interface Sizes {
  readonly limit: number
  readonly preview: number
}

/** The client alone: what it sent, and its own compactions without the price of their summaries. */
export const DIRECT = NOTHING

export const nameOf = ({ limit, preview }: Sizes): string => `from ${limit}, preview ${preview}`

/** The layers of `openConversation` with the settings of the proxy. The client places the cache marks, and no request keeps them warm. */
export const behindAClient = (sizes: Sizes) =>
  layered({
    name: nameOf(sizes),
    about: `Strata through the proxy, with results of more than ${sizes.limit} characters put aside.`,
    layers: ({ background }) => [
      toolResultStorage({ limitsItself: FILE_READERS }),
      microcompaction({ serverClears: false }),
      compaction({ offline: offline(), background }),
    ],
    settings: { cacheLifetime: FOR_CALLERS.cacheLifetime!, switches: FOR_CALLERS.switches! },
    figures: {
      ...FOR_CALLERS.figures,
      "tool-result-limit": sizes.limit,
      "tool-result-preview": sizes.preview,
    },
    readsFiles: true,
  })
