/** A stream of server-sent events that reports changes while the client is connected. */
import { setTimeout as pause } from "node:timers/promises"
import type { Context } from "hono"
import { streamSSE } from "hono/streaming"

const PING_MS = 20_000 // keeps intermediaries from closing the connection

export interface EventStreamOptions {
  /** Returns the state that is sent after each change. */
  readonly state: () => unknown
  readonly onChange: (listener: () => void) => () => void
  /** Called before the first state is sent. */
  readonly begin?: () => Promise<void>
}

export const streamEvents = (context: Context, { state, onChange, begin }: EventStreamOptions): Response =>
  streamSSE(context, async (stream) => {
    const send = () => void stream.writeSSE({ data: JSON.stringify(state()) })
    const stop = onChange(send)
    const gone = new AbortController()
    stream.onAbort(() => {
      stop()
      gone.abort() // a running timer would keep the process alive
    })
    await begin?.().catch(() => undefined)
    send()
    while (!stream.aborted) {
      await pause(PING_MS, undefined, { signal: gone.signal }).catch(() => undefined)
      if (!stream.aborted) await stream.writeSSE({ event: "ping", data: "" })
    }
    stop()
  })
