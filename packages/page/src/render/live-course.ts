/** A followed conversation as a course to draw. */
import type { FollowedConversation } from "../live/followed-conversation.ts"
import type { Course, Point } from "./content.ts"
import { contextParts } from "./context-parts.ts"
import { lossesOf } from "./losses.ts"

export function courseOf({ fold, classes }: FollowedConversation): Course {
  const { turns, boundaries, breaks, isBilled, isPriced } = fold.course()
  const parts = contextParts({ turns, boundaries, classes })
  const points = turns.map(
    ({ turn, context, paid }, at): Point => ({
      ...{ turn, context, ...parts[at] },
      ...(isBilled && isPriced ? { cost: paid.dollars } : {}),
    }),
  )
  return { name: "this conversation", about: "", points, boundaries, losses: lossesOf(breaks), facts: [] }
}
