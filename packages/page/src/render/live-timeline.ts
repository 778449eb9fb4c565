/** Converts a live conversation to a timeline for charts. */
import type { LiveConversation } from "../live/live-conversation.ts"
import { toChartedMisses } from "./charted-misses.ts"
import type { ChartTimeline, TimelinePoint } from "./content.ts"
import { pointParts } from "./point-parts.ts"

export function liveTimeline({ timeline, classes }: LiveConversation): ChartTimeline {
  const { turns, boundaries, breaks, isBilled, isPriced } = timeline.timeline()
  const parts = pointParts({ turns, boundaries, classes })
  const points = turns.map(
    ({ turn, context, paid }, at): TimelinePoint => ({
      ...{ turn, context, ...parts[at] },
      ...(isBilled && isPriced ? { cost: paid.dollars } : {}),
    }),
  )
  return { name: "this conversation", description: "", points, boundaries, misses: toChartedMisses(breaks), facts: [] }
}
