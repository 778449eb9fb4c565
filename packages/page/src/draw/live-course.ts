/** A followed conversation as a course to draw. */
import { CLASSES, type ContextClass } from "@strata/replay"
import type { FollowedConversation } from "../live/followed-conversation.ts"
import type { Course, Point } from "./content.ts"
import { lossesOf } from "./losses.ts"

export function courseOf({ fold, classes }: FollowedConversation): Course {
  const { turns, boundaries, breaks, isBilled, isPriced } = fold.course()
  let shares: Readonly<Record<ContextClass, number>> | undefined
  const points = turns.map(({ turn, context, paid }): Point => {
    shares = classes.of(turn) ?? shares
    const cost = isBilled && isPriced ? { cost: paid.dollars } : {}
    return { turn, context, ...cost, ...(shares ? { classes: scaled(shares, context) } : {}) }
  })
  return { name: "this conversation", about: "", points, boundaries, losses: lossesOf(breaks), facts: [] }
}

/** What the API counted and no message explains is the prompt. */
function scaled(sums: Readonly<Record<ContextClass, number>>, context: number): Readonly<Record<ContextClass, number>> {
  const known = CLASSES.reduce((sum, name) => sum + sums[name], 0)
  if (known <= context) return { ...sums, prompt: context - known }
  return Object.fromEntries(CLASSES.map((name) => [name, (sums[name] * context) / known])) as typeof sums
}
