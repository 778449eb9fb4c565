/** How a conversation went as it was recorded: context by class, what was paid, boundaries and lost caches, turn by turn. For the page. */
import type { BreakCause, Entry, Message } from "@strata/core/internal"
import { addCounts, inputTokens, NO_TOKENS } from "@strata/core/internal/base/token-counts"
import { isMessage } from "@strata/core/internal/journal/entries"
import { isBoundary, isSyntheticError } from "@strata/core/internal/messages/messages"
import { findModel } from "@strata/core/internal/tokens/models"
import { tokenCounts } from "@strata/core/internal/tokens/price"
import { Views } from "@strata/core/internal/views/views"
import { CLASSES, type ContextClass, type CostUnit, weigh } from "@strata/replay"
import { classesOf, OwnTexts } from "@strata/replay/internal/context-classes"
import { CAUSES } from "../display/cache-breaks.ts"
import type { Course, LossKind, Point } from "../html/content.ts"
import type { Transcript } from "./transcript.ts"

export interface RecordedCourse extends Pick<Course, "points" | "boundaries" | "losses"> {
  readonly unit: CostUnit
}

/** Classes are computed for so many turns at most; a chart cannot show more. */
const MOST_CLASSED = 400

const KINDS: Readonly<Record<BreakCause, LossKind>> = {
  compaction: "compaction",
  clearing: "clearing",
  undone: "other",
  rewound: "other",
  "other-model": "model",
  "prompt-changed": "other",
  "hour-over": "pause",
  "five-minutes-over": "pause",
  "all-gone": "other",
  "prompt-left": "other",
  "history-changed": "other",
}

export function recordedCourse({ entries, aside, model = "unknown" }: Transcript): RecordedCourse {
  const views = new Views({ family: findModel(model).facts.family })
  const answers = answersIn(entries)
  const every = Math.max(1, Math.ceil(answers.size / MOST_CLASSED))
  const others = aside.toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : 1))
  const classes = new Classes(views)
  const paid: { readonly dollars: number; readonly weighed: number }[] = []
  const points: Point[] = []
  const boundaries: number[] = []
  let applied = 0
  let last: string | undefined
  for (const entry of entries) {
    for (; applied < others.length && others[applied]!.timestamp <= entry.timestamp; applied++)
      views.apply(others[applied]!, "off-path")
    const id = answerId(entry)
    if (id !== undefined && id !== last) {
      last = id
      const turn = points.length + 1
      const context = answers.get(id) ?? views.context.size().tokens
      points.push({ turn, context, ...((turn - 1) % every === 0 ? { classes: classes.of(context) } : {}) })
    }
    if (isMessage(entry) && isBoundary(entry)) boundaries.push(points.length + 1)
    classes.note(entry)
    views.apply(entry)
    if (id !== undefined) paid[points.length - 1] = paidSoFar(views)
  }
  for (const entry of others.slice(applied)) views.apply(entry, "off-path")
  if (points.length > 0) paid[points.length - 1] = paidSoFar(views)
  const lines = [...views.ledger.lines.values()]
  const unit: CostUnit = lines.every(({ dollars }) => dollars !== undefined) ? "dollars" : "tokens"
  const isBilled = lines.length > 0
  return {
    unit,
    points: withClasses(points).map((point, i) => {
      const cost = unit === "dollars" ? paid[i]!.dollars : paid[i]!.weighed
      return isBilled ? { ...point, cost } : point
    }),
    boundaries,
    losses: views.cacheHistory.breaks.map(({ turn, paidAnew, cause }) => ({
      turn,
      tokens: paidAnew,
      kind: KINDS[cause],
      why: CAUSES[cause],
    })),
  }
}

/** The input of each response, as the API counted it. The last entry of a response has the whole usage. */
function answersIn(entries: readonly Entry[]): ReadonlyMap<string, number | undefined> {
  const found = new Map<string, number | undefined>()
  for (const entry of entries) {
    const id = answerId(entry)
    if (id === undefined || entry.type !== "assistant") continue
    const input = entry.message.usage ? inputTokens(tokenCounts(entry.message.usage)) : 0
    found.set(id, input > 0 ? input : found.get(id))
  }
  return found
}

function answerId(entry: Entry): string | undefined {
  if (!isMessage(entry) || entry.type !== "assistant" || entry.isSidechain || isSyntheticError(entry)) return undefined
  return entry.message.id ?? entry.uuid
}

function paidSoFar({ ledger }: Views): { readonly dollars: number; readonly weighed: number } {
  const lines = [...ledger.lines.values()]
  return {
    dollars: lines.reduce((sum, { dollars = 0 }) => sum + dollars, 0),
    weighed: weigh(lines.map(({ counts }) => counts).reduce(addCounts, NO_TOKENS)),
  }
}

type Sums = Readonly<Record<ContextClass, number>>

/** What is in view, by class. What the API counted and no message explains is the prompt. */
class Classes {
  readonly #views: Views
  readonly #own = new OwnTexts()
  readonly #sizes = new WeakMap<object, number>()

  constructor(views: Views) {
    this.#views = views
  }

  note(entry: Entry): void {
    const isOwn =
      (entry.type === "user" && entry.isCompactSummary) ||
      (entry.type === "attachment" && entry.attachment.type === "carried_facts")
    if (isOwn) this.#own.add([entry as Message])
  }

  of(context: number): Sums {
    const messages = this.#views.context.messages().messages.map(({ role, content }) => ({
      role,
      items: content.map((block) => ({ block, tokens: this.#size(block) })),
    }))
    const sums = classesOf({ messages, prompt: 0 }, this.#own)
    const known = CLASSES.reduce((sum, name) => sum + sums[name], 0)
    if (known <= context) return { ...sums, prompt: context - known }
    const scaled = CLASSES.map((name) => [name, (sums[name] * context) / known])
    return Object.fromEntries(scaled) as Sums
  }

  #size(block: Parameters<Views["estimator"]["block"]>[0]): number {
    const known = this.#sizes.get(block) ?? this.#views.estimator.block(block)
    this.#sizes.set(block, known)
    return known
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
