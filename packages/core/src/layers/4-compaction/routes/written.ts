/** A summary that a plan wrote and a person accepted. No model is asked again. */
import type { PlannedSummary } from "../../compaction-order.ts"
import type { Route, RouteInput } from "./route.ts"

export const written = ({ text, route: name, last }: PlannedSummary): Route => ({
  name,
  cut: async (input) => (covers(input, last) ? input.cut : undefined),
  summarise: async (input) =>
    covers(input, last)
      ? { kind: "summary", text, cut: input.cut, responses: [] }
      : {
          kind: "failed",
          why: "no_summary",
          message: "the conversation has changed since the summary was written",
          responses: [],
        },
})

const covers = ({ cut }: RouteInput, last: string): boolean => cut.summarised.at(-1)?.uuid === last
