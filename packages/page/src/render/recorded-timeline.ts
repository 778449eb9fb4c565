/** Timeline of a recorded conversation: context by class, cost, compactions and cache misses, turn by turn. */
import { type Transcript, transcriptTimeline } from "@strata/transcripts"
import { type CostUnit, weigh } from "@strata/transcripts/replay"
import { toChartedMisses } from "./charted-misses.ts"
import type { ChartTimeline, TimelinePoint } from "./content.ts"
import { pointParts } from "./point-parts.ts"
import { TurnClasses } from "./turn-classes.ts"

export interface RecordedTimeline extends Pick<ChartTimeline, "points" | "boundaries" | "misses"> {
  readonly unit: CostUnit
}

export async function recordedTimeline(transcript: Transcript): Promise<RecordedTimeline> {
  const classes = new TurnClasses()
  let taken = 0
  const { turns, boundaries, breaks, isBilled, isPriced } = await transcriptTimeline(transcript, {
    onTurn: (view) => {
      for (; taken < view.at; taken++) classes.addEntry(transcript.entries[taken]!)
      classes.recordTurn(view)
    },
  })
  const unit: CostUnit = isPriced ? "dollars" : "tokens"
  const parts = pointParts({ turns, boundaries, classes })
  const points = turns.map(({ turn, context, paid: { dollars, counts } }, at): TimelinePoint => {
    const cost = unit === "dollars" ? dollars : weigh(counts)
    return { turn, context, ...parts[at], ...(isBilled ? { cost } : {}) }
  })
  return { unit, points, boundaries, misses: toChartedMisses(breaks) }
}
