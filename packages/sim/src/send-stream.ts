/** Sends a message as a stream, with what a fault does to it: slowly, cut off, ended early, or broken by an error. */
import { ApiError } from "./api-error.ts"
import type { Clock } from "./clock.ts"
import { DEFAULT_EVENTS, type Fault } from "./faults.ts"
import { type StreamEvent, toEvents, toFrame } from "./stream.ts"
import type { MessageResponse } from "./wire.ts"

export interface StreamOptions {
  readonly fault: Fault | undefined
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Breaks the connection. */
  readonly cutSocket: () => Promise<void>
}

/** Events are made one by one, as the client takes them: what was sent before a fault has really arrived. */
export function streamBody(message: MessageResponse, { fault, clock, signal, cutSocket }: StreamOptions) {
  const encoder = new TextEncoder()
  const events = toEvents(message)
  const breakAfter = fault && "afterEvents" in fault ? (fault.afterEvents ?? DEFAULT_EVENTS) : DEFAULT_EVENTS
  let sent = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (fault?.kind === "slow-stream") await clock.sleep(fault.delayMs, signal)
        if (signal.aborted) return controller.close()
        const end = sent === breakAfter ? endOf(fault) : undefined
        if (end === "cut") await cutSocket()
        if (end === "error") controller.enqueue(encoder.encode(toFrame(overloadedEvent)))
        const event = end ? undefined : events.next().value
        if (!event) return controller.close()
        controller.enqueue(encoder.encode(toFrame(event)))
        sent++
      },
    },
    { highWaterMark: 0 },
  )
}

const overloadedEvent: StreamEvent = { type: "error", error: new ApiError(529, "Overloaded").toEvent() }

function endOf(fault: Fault | undefined): "cut" | "error" | "end" | undefined {
  switch (fault?.kind) {
    case "cut-socket":
      return "cut"
    case "stream-error":
      return "error"
    case "early-end":
      return "end"
    default:
      return undefined
  }
}
