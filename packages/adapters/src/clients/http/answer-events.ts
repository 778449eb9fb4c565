/**
 * Relays a response as events. Bytes pass unchanged, except for Strata's own tool: its calls are removed, continuing responses follow on
 * the same stream, and block indexes are renumbered. The last event passes only after the plan has the message, so that a client's next
 * request finds it.
 */

import { errorReason } from "@strata/core/base"
import { MessageCollector } from "@strata/core/model"
import type { ApiBody } from "../plan.ts"
import { EventReader } from "./event-reader.ts"
import { MergedEvents } from "./merged-events.ts"

// Assembles the message from a stream of events. Unknown blocks, deltas and fields are preserved, and tool inputs keep the model's
// spelling. An invalid stream yields no message and has no other effect.

/** Maximum size of a response to assemble. Longer ones are only relayed. */
const MAX_CHARACTERS = 64 * 1024 * 1024

export type Message = Readonly<Record<string, unknown>>

export class AssembledMessage {
  #collector: MessageCollector | undefined = new MessageCollector()
  #characters = 0

  /** Processes the data of the next event. Returns whether it is the last one. */
  take(data: string): "last" | undefined {
    this.#characters += data.length
    if (this.#characters > MAX_CHARACTERS) this.giveUp()
    try {
      const event = JSON.parse(data) as Parameters<MessageCollector["take"]>[0]
      this.#collector?.take(event)
      return event.type === "message_stop" ? "last" : undefined
    } catch {
      this.giveUp() // a partial response must not count as complete
      return undefined
    }
  }

  giveUp(): void {
    this.#collector = undefined
  }

  /** The message, or `undefined` if it is incomplete. */
  complete(): Message | undefined {
    return this.#collector?.response() as Message | undefined
  }

  /** The partial message, or `undefined` if it has not begun or is invalid. */
  partial(): Message | undefined {
    return this.#collector?.partialResponse() as Message | undefined
  }
}

type Chunks = AsyncIterable<Uint8Array>

/** Handlers for a response. Exactly one of `whole` and `brokenOff` is called. */
export interface AnswerHandlers {
  readonly hiddenTool?: string | undefined
  /** Whether the client expects JSON. */
  readonly isJson?: boolean
  /** Sends the continuation of a response that calls only Strata's tool. `undefined` if the response is the last one. */
  again(answer: ApiBody): Promise<Chunks | undefined>
  completed(answer: ApiBody): Promise<void>
  brokenOff(partial: ApiBody | undefined): Promise<void>
}

/** The server refused the continuation of a response. */
export class ContinuationRefused extends Error {
  readonly status: number
  readonly bytes: Buffer

  constructor(status: number, bytes: Buffer) {
    super(`the server answered with status ${status}`)
    this.status = status
    this.bytes = bytes
  }
}

export const answerEvents = (first: Chunks, course: AnswerHandlers): AsyncGenerator<Buffer> =>
  course.hiddenTool === undefined ? relayPlain(first, course) : relayMerged(first, course)

async function* relayPlain(chunks: Chunks, course: AnswerHandlers): AsyncGenerator<Buffer> {
  const events = new EventReader()
  const message = new AssembledMessage()
  let isReported = false
  const report = async (answer: ApiBody | undefined) => {
    if (isReported) return
    isReported = true
    await (answer ? course.completed(answer) : course.brokenOff(message.partial()))
  }
  try {
    for await (const chunk of chunks) {
      const pieces = events.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
      if (events.isLost) message.giveUp()
      for (const { bytes, data } of pieces) {
        if (data !== undefined && message.take(data) === "last") await report(message.complete())
        yield bytes
      }
    }
  } catch (error) {
    await report(undefined)
    yield events.rest()
    throw error
  } finally {
    await report(undefined) // the last event never came
  }
  yield events.rest()
}

async function* relayMerged(first: Chunks, course: AnswerHandlers): AsyncGenerator<Buffer> {
  const splice = new MergedEvents({ tool: course.hiddenTool!, isJson: course.isJson ?? false })
  let isReported = false
  let isOver = false
  let chunks: Chunks | undefined = first
  let message = new AssembledMessage()
  const breakOff = async () => {
    if (isReported) return
    isReported = true
    await course.brokenOff(message.partial())
  }
  try {
    while (chunks) {
      const events = new EventReader({ isWhole: true })
      const round: Chunks = chunks
      chunks = undefined
      message = new AssembledMessage()
      let isStopped = false
      for await (const chunk of round)
        for (const { bytes, data } of events.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))) {
          if (events.isLost) message.giveUp()
          if (data === undefined || isStopped) {
            if (splice.rounds === 0 || !isStopped) yield bytes
            continue
          }
          isStopped = message.take(data) === "last"
          if (!isStopped) {
            yield* splice.take(data, bytes)
            continue
          }
          const answer = message.complete()
          chunks = answer && splice.mayGoOn ? await course.again(answer) : undefined
          if (chunks) {
            splice.next(answer!)
            continue
          }
          if (!answer) await breakOff()
          else {
            isReported = true
            await course.completed(answer)
          }
          isOver = true
          yield Buffer.concat([splice.held(), bytes])
        }
      if (!isStopped) {
        await breakOff()
        if (splice.rounds === 0) yield events.rest()
        else yield errorEvent(new Error("the answer ended early"))
      }
    }
  } catch (error) {
    await breakOff()
    if (splice.rounds === 0 && !(error instanceof ContinuationRefused)) throw error
    if (!isOver) yield errorEvent(error)
  } finally {
    await breakOff()
  }
}

function errorEvent(error: unknown): Buffer {
  const own = { type: "error", error: { type: "api_error", message: `The answer broke off: ${errorReason(error)}.` } }
  const serverError = error instanceof ContinuationRefused ? errorIn(error.bytes) : undefined
  return Buffer.from(`event: error\ndata: ${JSON.stringify(serverError ?? own)}\n\n`)
}

/** Parses an error of the API. */
function errorIn(bytes: Buffer): unknown {
  try {
    const value = JSON.parse(bytes.toString("utf8")) as { readonly type?: unknown } | null
    return value?.type === "error" ? value : undefined
  } catch {
    return undefined
  }
}
