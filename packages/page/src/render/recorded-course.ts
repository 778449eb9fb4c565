/** How a conversation went as it was recorded: context by class, what was paid, boundaries and lost caches, turn by turn. */
import { type Transcript, transcriptTimeline } from "@strata/transcripts"
import { type CostUnit, weigh } from "@strata/transcripts/replay"
import type { Course, Point } from "./content.ts"
import { contextParts } from "./context-parts.ts"
import { lossesOf } from "./losses.ts"
import { TurnClasses } from "./turn-classes.ts"

export interface CourseOnPage extends Pick<Course, "points" | "boundaries" | "losses"> {
  readonly unit: CostUnit
}

export async function courseOnPage(transcript: Transcript): Promise<CourseOnPage> {
  const classes = new TurnClasses()
  let taken = 0
  const { turns, boundaries, breaks, isBilled, isPriced } = await transcriptTimeline(transcript, {
    onTurn: (view) => {
      for (; taken < view.at; taken++) classes.take(transcript.entries[taken]!)
      classes.note(view)
    },
  })
  const unit: CostUnit = isPriced ? "dollars" : "tokens"
  const parts = contextParts({ turns, boundaries, classes })
  const points = turns.map(({ turn, context, paid: { dollars, counts } }, at): Point => {
    const cost = unit === "dollars" ? dollars : weigh(counts)
    return { turn, context, ...parts[at], ...(isBilled ? { cost } : {}) }
  })
  return { unit, points, boundaries, losses: lossesOf(breaks) }
}
