/**
 * Summaries ahead of time: one is written in the background while the work goes on, and is installed when it is there. Messages that came
 * since are kept after it. It is dropped if the messages it covers have changed.
 */
import type { Clock } from "../../base/clock.ts"
import type { Uuid } from "../../messages/messages.ts"
import { unlessInterrupted } from "../../tools/interruption.ts"
import type { CompactionOrder, CompactionProgress } from "../compaction-order.ts"
import type { LayerContext, Outcome } from "../layer.ts"
import { type Moment, preparesNow } from "../planner/compact-now.ts"
import { positionOf } from "../position.ts"
import type { CheckedSummary } from "./check/check.ts"
import { type Cut, cutAfter, tailOf } from "./cut.ts"
import { largestLead, leadFor, paceOf } from "./pace.ts"
import type { Situation } from "./situation.ts"
import type { Route } from "./summarise/route.ts"

/** A summary that is ready. */
interface Prepared {
  readonly route: Route
  readonly outcome: CheckedSummary
  /** It covers everything from the boundary up to this message. */
  readonly through: Uuid
  readonly boundary: Uuid | undefined
  /** A model has answered while it was written, also if its summary was refused. */
  readonly wasAnswered: boolean
}

/** What the work in the background comes to. */
export interface Writing extends Outcome {
  readonly prepared?: Prepared | undefined
}

export interface Ahead {
  readonly isRunning: boolean
  /** How long a summary probably takes, with some caution. */
  readonly seconds: number
  start(context: LayerContext, write: (context: LayerContext) => Promise<Writing>): void
  /** Waits for the one that is being written. An abort drops it. */
  finished(context: LayerContext): Promise<void>
  ready(): Prepared | undefined
  /** Ends the one that is being written. What it has cost is counted. */
  stop(): void
  /** Drops it, written or not. Returns whether there was one. */
  forget(): boolean
}

const USUAL_SECONDS = 60 // of a summary, until one was measured here: recorded ones took 10 to 88
const CAUTION = 1.5 // times the time that the last one took
const LAYER = { name: "compaction" } as const

/** Time that is not spent: a replay has the summary at once, and takes it when a model would have written it. */
interface PretendedTime {
  /** Of one summary. */
  readonly seconds: number
  /** A summary was paid for. */
  readonly written: (text: string) => void
  /** Someone waited for the rest of one. */
  readonly waited: (ms: number) => void
}

export function ahead(clock: Clock, pretended?: PretendedTime): Ahead {
  /** When the newest summary is there. */
  let readyAt = 0
  const isReady = () => clock.now().getTime() >= readyAt
  let prepared: Prepared | undefined
  let running: { readonly done: Promise<void>; readonly stop: AbortController } | undefined
  let measured: number | undefined
  let waiting = 0

  return {
    get isRunning() {
      return running !== undefined || (prepared !== undefined && !isReady())
    },
    get seconds() {
      return measured === undefined ? USUAL_SECONDS : measured * CAUTION
    },
    ready: () => (isReady() ? prepared : undefined),
    stop: () => running?.stop.abort(),
    forget() {
      const had = prepared !== undefined || running !== undefined
      running?.stop.abort()
      prepared = undefined
      return had
    },

    start(context, write) {
      const { promise: done, resolve } = Promise.withResolvers<void>()
      const own = { done, stop: new AbortController() }
      const began = clock.now().getTime()
      const end = () => {
        if (running === own) running = undefined
        resolve()
      }
      running = own
      context.meanwhile(LAYER, async (now) => {
        try {
          const { prepared: found, ...outcome } = await write({
            ...now,
            signal: AbortSignal.any([now.signal, own.stop.signal]),
            progress: (step) => (waiting > 0 || isForThePerson(step)) && now.progress(step),
          })
          const seconds = pretended?.seconds ?? (clock.now().getTime() - began) / 1_000
          if (found && !own.stop.signal.aborted) prepared = found
          if (found && pretended) {
            readyAt = began + seconds * 1_000
            pretended.written(found.outcome.text)
          }
          if (found && seconds > 0) measured = seconds
          if (outcome.drafts.length === 0) end()
          return { ...outcome, journaled: async () => end(), lost: end }
        } catch (error) {
          end()
          if (own.stop.signal.aborted) return undefined // dropped on purpose: that is no failure
          throw error
        }
      })
    },

    async finished({ signal }) {
      if (!isReady()) pretended?.waited(readyAt - clock.now().getTime())
      readyAt = 0
      if (!running) return
      const { done, stop } = running
      waiting++
      try {
        const waited = await unlessInterrupted(signal, done)
        if (waited.state === "interrupted") stop.abort()
      } finally {
        waiting--
      }
    },
  }
}

/** Work in the background shows what it found, not how far it has come. */
const isForThePerson = ({ phase }: CompactionProgress): boolean => phase === "message" || phase === "failed"

/** What a route wrote. */
interface ChosenSummary extends Pick<CheckedSummary, "cut" | "audit" | "signed"> {
  readonly route: Route
  readonly summary: string
  readonly paid: readonly unknown[]
}

/**
 * What it covers: a fork has read everything up to now but calls that are open; the other routes only what is not kept. The cut is safe
 * there.
 */
export function preparedFrom({ cutInput: { messages }, context }: Situation, chosen: ChosenSummary): Prepared {
  const { route, summary: text, cut, audit, signed } = chosen
  const firstKept = messages.findIndex(({ uuid }) => uuid === tailOf(cut)[0]?.uuid)
  const last = firstKept < 0 ? messages.at(-1)!.uuid : messages[firstKept - 1]!.uuid
  return {
    route: { ...route, mustReachThreshold: true },
    outcome: {
      ...{ kind: "summary", text, cut, responses: [] },
      ...(audit ? { audit } : {}),
      ...(signed ? { signed } : {}),
    },
    through: route.name === "shared" ? (positionOf(messages).throughUuid ?? last) : last,
    boundary: context.views.compactions.last?.boundary,
    wasAnswered: chosen.paid.length > 0,
  }
}

/** Where it cuts now. `undefined`: what it covers has changed. */
export function cutFor({ context, cutInput }: Situation, { boundary, through, outcome }: Prepared): Cut | undefined {
  if (boundary !== context.views.compactions.last?.boundary) return undefined
  const { newest: _, ...exactly } = cutInput
  return cutAfter(outcome.signed ? exactly : cutInput, through) // a signed one holds for what follows it, and no more
}

/** Why one should be written now, so that it is there when it is due. Where the cache expires, it may be earlier. */
export function dueSoon(context: LayerContext, { seconds, moment }: DueSoon): CompactionOrder | undefined {
  const { fill, thresholds, views, flags } = context
  const pace = paceOf(views.context)
  // with the planner, the size from which a pause is used is its own
  const usesPause = moment === "expiring" && flags.planner === "off"
  const lead = usesPause ? largestLead(thresholds) : leadFor(pace, { seconds, autoCompact: thresholds.autoCompact })
  if (fill.used >= thresholds.autoCompact - lead) return { trigger: "auto" }
  return preparesNow(context, { moment, turns: seconds / pace.secondsPerTurn })
    ? { trigger: "auto", planned: SOON }
    : undefined
}

interface DueSoon {
  readonly seconds: number
  readonly moment: Moment
}

const SOON = "The planner is about to compact." // never installed: the reason is given when it is due
