/** A route's summary within its budget, before anything else looks at it. Notes have limits of their own, section by section. */
import { grouped } from "../../../base/grouped.ts"
import { handleOf } from "../../../messages/handles.ts"
import type { Situation } from "../situation.ts"
import { withinBudget } from "../summarise/budget.ts"
import type { Route, RouteOutcome } from "./route.ts"

const RETELLING = 0.5 // of the context: such a text retells the conversation, even if most of it could be cut
const LONG = 6_000 // tokens: twice a usual summary; a shorter one may be half of a short conversation

type Summary = Extract<RouteOutcome, { kind: "summary" }>

export function limited({ context, figures }: Situation, { name }: Route, summary: Summary): RouteOutcome {
  const { text, cut, responses } = summary
  const estimate = (words: string) => context.views.estimator.text(words)
  const tokens = Math.ceil(estimate(text))
  const [first, last] = [cut.summarised[0], cut.summarised.at(-1)]
  if (name === "notes" || tokens <= figures.summary || !first || !last) return summary
  if (tokens > Math.max(LONG, context.size.tokens * RETELLING)) {
    const message = `its summary has ${grouped(tokens)} tokens, and the whole context ${grouped(context.size.tokens)}, which saves too little`
    return { kind: "failed", why: "threshold_exceeded", message, responses }
  }
  const range = [handleOf(first.uuid), handleOf(last.uuid)] as const
  return { ...summary, text: withinBudget({ text, budget: figures.summary, estimate, range }) }
}
