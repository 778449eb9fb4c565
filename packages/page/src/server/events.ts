/** Says in a stream when something changed, as long as someone listens. */
import { setTimeout as pause } from "node:timers/promises"
import type { Context } from "hono"
import { streamSSE } from "hono/streaming"

const PING_MS = 20_000 // keeps what is between from closing the connection

export interface EventStreamOptions {
  /** What is sent after each change. */
  readonly state: () => unknown
  readonly onChange: (listener: () => void) => () => void
  /** Before the first state is sent. */
  readonly begin?: () => Promise<void>
}

export const streamEvents = (context: Context, { state, onChange, begin }: EventStreamOptions): Response =>
  streamSSE(context, async (stream) => {
    const send = () => void stream.writeSSE({ data: JSON.stringify(state()) })
    const stop = onChange(send)
    const gone = new AbortController()
    stream.onAbort(() => {
      stop()
      gone.abort() // a timer that goes on would keep the program from ending
    })
    await begin?.().catch(() => undefined)
    send()
    while (!stream.aborted) {
      await pause(PING_MS, undefined, { signal: gone.signal }).catch(() => undefined)
      if (!stream.aborted) await stream.writeSSE({ event: "ping", data: "" })
    }
    stop()
  })
