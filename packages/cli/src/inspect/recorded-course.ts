/** How a conversation went as it was recorded: context by class, what was paid, boundaries and lost caches, turn by turn. For the page. */

import { type Entry, type Message, type RecordedView, recordedCourse, type Transcript } from "@strata/core"
import { type Course, lossesOf, type Point } from "@strata/page"
import { CLASSES, type ContextClass, type CostUnit, weigh } from "@strata/replay"
import { classesOf, OwnTexts } from "@strata/replay/internal/context-classes"

export interface CourseOnPage extends Pick<Course, "points" | "boundaries" | "losses"> {
  readonly unit: CostUnit
}

/** Classes are computed for so many turns at most; a chart cannot show more. */
const MOST_CLASSED = 400

export async function courseOnPage(transcript: Transcript): Promise<CourseOnPage> {
  const classes = new Classes(transcript.entries)
  const every = Math.max(1, Math.ceil((await recordedCourse(transcript)).turns.length / MOST_CLASSED))
  const classed = new Map<number, Sums>()
  const { turns, boundaries, breaks, isBilled, isPriced } = await recordedCourse(transcript, {
    onTurn: (view) => {
      if ((view.turn - 1) % every === 0) classed.set(view.turn, classes.of(view))
    },
  })
  const unit: CostUnit = isPriced ? "dollars" : "tokens"
  const points = turns.map(({ turn, context, paid: { dollars, counts } }): Point => {
    const sums = classed.get(turn)
    const cost = unit === "dollars" ? dollars : weigh(counts)
    return { turn, context, ...(sums ? { classes: sums } : {}), ...(isBilled ? { cost } : {}) }
  })
  return {
    unit,
    points: withClasses(points),
    boundaries,
    losses: lossesOf(breaks),
  }
}

type Sums = Readonly<Record<ContextClass, number>>

/** What is in view, by class. What the API counted and no message explains is the prompt. */
class Classes {
  readonly #entries: readonly Entry[]
  readonly #own = new OwnTexts()
  #noted = 0

  constructor(entries: readonly Entry[]) {
    this.#entries = entries
  }

  of({ at, context, messages }: RecordedView): Sums {
    this.#noteUpTo(at)
    const sums = classesOf({ messages: messages(), prompt: 0 }, this.#own)
    const known = CLASSES.reduce((sum, name) => sum + sums[name], 0)
    if (known <= context) return { ...sums, prompt: context - known }
    const scaled = CLASSES.map((name) => [name, (sums[name] * context) / known])
    return Object.fromEntries(scaled) as Sums
  }

  /** What compactions wrote is a class of its own. */
  #noteUpTo(at: number): void {
    for (; this.#noted < at; this.#noted++) {
      const entry = this.#entries[this.#noted]!
      const isOwn =
        (entry.type === "user" && entry.isCompactSummary) ||
        (entry.type === "attachment" && entry.attachment.type === "carried_facts")
      if (isOwn) this.#own.add([entry as Message])
    }
  }
}

/** Turns without classes take the shares of the turn before. */
function withClasses(points: readonly Point[]): readonly Point[] {
  let before: Point | undefined
  return points.map((point) => {
    if (point.classes) before = point
    const shares = before?.classes
    if (point.classes || !shares || before!.context === 0) return point
    const scaled = CLASSES.map((name) => [name, (shares[name] * point.context) / before!.context])
    return { ...point, classes: Object.fromEntries(scaled) as Sums }
  })
}
