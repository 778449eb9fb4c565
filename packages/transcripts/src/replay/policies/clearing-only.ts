/**
 * Policies that only offload and clear, between the recording's own compactions. Fetching content that left the view is not charged. They
 * show the effect of layers 1 and 2 alone.
 */
import { microcompaction, READ_LIKE, WRITE_LIKE } from "@strata/core/policy"
import { butNewest, clearing } from "./clearing.ts"
import { layered } from "./layered.ts"
import { storage, UNLIMITED } from "./storage.ts"

const CLEARABLE: ReadonlySet<string> = new Set([...READ_LIKE, ...WRITE_LIKE])

export const AS_RECORDED = layered({
  name: "nothing",
  about: "every request sends everything since the last compaction",
  layers: () => [storage()],
  figures: UNLIMITED,
  compactions: "recorded",
})

export const STRATA = layered({
  name: "strata",
  about: "layers 1 and 2 with their default figures",
  layers: () => [storage(), microcompaction()],
  server: "forgets",
  compactions: "recorded",
})

export const CLEARING_ONLY = [
  AS_RECORDED,
  layered({
    ...AS_RECORDED,
    name: "keep-last-10",
    about: "every request shows only the 10 newest tool results",
    layers: () => [storage(), clearing({ name: "newest-results", choose: (results) => butNewest(results, 10) })],
  }),
  layered({
    ...AS_RECORDED,
    name: "sliding-3",
    about: "above 100K tokens every request clears all clearable results but the newest 3",
    layers: () => [
      storage(),
      clearing({
        name: "newest-results",
        choose: (results, { size }) =>
          size.tokens <= 100_000
            ? []
            : butNewest(
                results.filter(({ tool }) => CLEARABLE.has(tool)),
                3,
              ),
      }),
    ],
  }),
  STRATA,
] as const
