/**
 * A summary ahead of time: near the threshold, or shortly before the planner compacts, a fork writes it while the user goes on.
 * Messages that came since are kept after it. It is dropped if the messages it covers have changed.
 */

import type { Draft } from "../../journal/entries.ts"
import type { Uuid } from "../../messages/messages.ts"
import type { ModelResponse } from "../../model/model.ts"
import { unlessInterrupted } from "../../tools/interruption.ts"
import type { LayerContext } from "../layer.ts"
import { compactsNow, compactsSoon, costsMoney } from "../planner/compact-now.ts"
import { outlookOf } from "../planner/outlook.ts"
import { positionOf } from "../position.ts"
import { cutAfter } from "./cut.ts"
import { compactionFigures } from "./figures.ts"
import { spent } from "./install.ts"
import type { Route } from "./routes/route.ts"
import { askFork, type ForkSurroundings, readAnswer } from "./routes/shared.ts"

interface Prepared {
  readonly text: string
  /** It covers everything from the boundary up to this message. */
  readonly through: Uuid
  readonly boundary: Uuid | undefined
}

export interface Ahead {
  /** Starts when it is time; resolves with what it cost. */
  prepare(context: LayerContext, instructions: readonly string[]): Promise<readonly Draft[]>
  readonly route: Route
  forget(): void
}

const LARGEST_LEAD = 0.25 // of the threshold: in a small window the usual lead would be nearly all of the window

/** Early enough that the summary is ready when it is needed (`npm run ahead-of-time`). */
function isNear({ flags, fill, thresholds: { autoCompact } }: LayerContext): boolean {
  const lead = Math.min(flags.figures["compact-ahead-lead"], autoCompact * LARGEST_LEAD)
  return fill.used >= autoCompact - lead
}

/** Whether the planner compacts within a few requests. After a failure it leaves that to the threshold. */
function isPlanned(context: LayerContext): boolean {
  const { planner } = context.flags
  if (planner === "off" || !costsMoney(context) || context.views.compactions.failures > 0) return false
  return compactsSoon(compactsNow(outlookOf(context), planner))
}

export function ahead(parent: ForkSurroundings): Ahead {
  let prepared: Prepared | undefined
  /** The boundary after which the planner had one written. It is paid once, also if it came to nothing. */
  let plannedAfter: { readonly boundary: Uuid | undefined } | undefined
  let running: Promise<readonly ModelResponse[]> | undefined

  async function write(context: LayerContext, instructions: readonly string[]): Promise<readonly ModelResponse[]> {
    const messages = context.views.context.storedMessages()
    const { throughUuid, openCalls } = positionOf(messages)
    const boundary = context.views.compactions.last?.boundary
    const cut = throughUuid === undefined ? undefined : cutAfter(messages, throughUuid)
    if (!cut?.summarised.some(({ type }) => type === "assistant")) return []
    const figures = compactionFigures(context)
    const input = {
      context,
      cut,
      figures,
      instructions,
      onProgress: () => undefined,
      openCalls,
      trigger: "auto" as const,
    }
    const answer = readAnswer(await askFork(parent, input), cut)
    if (answer.kind === "summary") prepared = { text: answer.text, through: throughUuid!, boundary }
    return answer.kind === "passed" ? [] : answer.responses
  }

  /** The cut it covers, if that is still unchanged. */
  const cutOf = ({ views }: LayerContext) =>
    prepared && prepared.boundary === views.compactions.last?.boundary
      ? cutAfter(views.context.storedMessages(), prepared.through)
      : undefined

  function isTime(context: LayerContext): boolean {
    if (isNear(context)) return true
    const boundary = context.views.compactions.last?.boundary
    if ((plannedAfter && plannedAfter.boundary === boundary) || !isPlanned(context)) return false
    plannedAfter = { boundary }
    return true
  }

  return {
    async prepare(context, instructions) {
      const { on } = context.flags
      if (!on["compact-ahead"] || running || cutOf(context) || !isTime(context)) return []
      running = write(context, instructions).finally(() => {
        running = undefined
      })
      return spent(await running, "auto")
    },

    forget() {
      prepared = undefined
    },

    route: {
      name: "prepared",
      mustReachThreshold: true,
      cut: async ({ context }) => cutOf(context),
      async summarise({ context }) {
        // it is already running: starting again would take longer
        if (running) await unlessInterrupted(context.signal, Promise.allSettled([running]))
        const cut = cutOf(context)
        if (!prepared || !cut) return { kind: "passed", message: "no summary was prepared" }
        return { kind: "summary", text: prepared.text, cut, responses: [] }
      },
    },
  }
}
