/**
 * Sends a message as server-sent events, in the API's order and chunks: text in small chunks, tool inputs as fragments of JSON, pings in
 * between, usage that adds up. A fault can slow the stream, cut it, end it early or break it.
 */
import { ApiError } from "./api-error.ts"
import type { Clock } from "./clock.ts"
import { DEFAULT_EVENTS, type EndlessKind, type Fault } from "./faults.ts"
import { type StreamEvent, toFrame } from "./stream-frame.ts"
import type { ContentBlock, MessageResponse, Usage } from "./wire.ts"

// Streams that never end, frame by frame, as a broken server or model sends them.

const WORDS = "and so on ".repeat(400)
const ONE_MB = 1024 * 1024
const PINGS = toFrame({ type: "ping" }).repeat(20_000)
const LINE = "x".repeat(ONE_MB)

/** The frames after the first event of a message. */
export function* endlessFrames(what: EndlessKind): Generator<string> {
  if (what === "line") yield "data: "
  else if (what !== "pings" && what !== "blocks") yield toFrame(start(what, 0))
  for (let index = 0; ; index++) yield frame(what, index)
}

function frame(what: EndlessKind, index: number): string {
  switch (what) {
    case "line":
      return LINE
    case "pings":
      return PINGS
    case "blocks":
      return `${toFrame(start("text", index))}${toFrame({ type: "content_block_stop", index })}`
    case "text":
      return delta({ type: "text_delta", text: WORDS })
    case "thinking":
      return delta({ type: "thinking_delta", thinking: WORDS })
    case "tool-input":
      return delta({ type: "input_json_delta", partial_json: index === 0 ? `{"command":"${WORDS}` : WORDS })
  }
}

const delta = (given: StreamEvent) => toFrame({ type: "content_block_delta", index: 0, delta: given })

function start(what: "text" | "thinking" | "tool-input", index: number): StreamEvent {
  const blocks = {
    text: { type: "text", text: "" },
    thinking: { type: "thinking", thinking: "", signature: "" },
    "tool-input": { type: "tool_use", id: "toolu_endless", name: "Bash", input: {} },
  }
  return { type: "content_block_start", index, content_block: blocks[what] }
}

const TEXT_CHUNK = 24 // characters; small enough that words are cut, as they are in real streams
const JSON_CHUNK = 16
const PING_EVERY = 50 // events
const PING_PAUSE_MS = 15_000 // between the pings of a stalled stream

function* toEvents(message: MessageResponse): Generator<StreamEvent> {
  const { usage, content, context_management, ...rest } = message
  const opening = {
    ...rest,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: openingUsage(usage),
  }
  yield { type: "message_start", message: opening }
  yield { type: "ping" }

  let sent = 0
  for (const [index, block] of content.entries()) {
    for (const event of blockEvents(block, index)) {
      yield event
      if (++sent % PING_EVERY === 0) yield { type: "ping" }
    }
  }

  const { service_tier: _tier, inference_geo: _geo, speed: _speed, ...counts } = usage
  yield {
    type: "message_delta",
    delta: {
      stop_reason: message.stop_reason,
      stop_sequence: message.stop_sequence,
      stop_details: message.stop_details,
      container: message.container,
    },
    usage: counts,
    ...(context_management !== undefined && { context_management }),
  }
  yield { type: "message_stop" }
}

/** The usage that is known before anything is generated. */
function openingUsage({ output_tokens_details: _, iterations: __, ...usage }: Usage) {
  return { ...usage, output_tokens: 1 }
}

function* blockEvents(block: ContentBlock, index: number): Generator<StreamEvent> {
  const { start, deltas } = takeApart(block)
  yield { type: "content_block_start", index, content_block: start }
  for (const delta of deltas) yield { type: "content_block_delta", index, delta }
  yield { type: "content_block_stop", index }
}

interface BlockInPieces {
  readonly start: Readonly<Record<string, unknown>>
  readonly deltas: readonly Readonly<Record<string, unknown>>[]
}

function takeApart(block: ContentBlock): BlockInPieces {
  switch (block.type) {
    case "text":
      return {
        start: { ...block, text: "" },
        deltas: chunks(block.text, TEXT_CHUNK).map((text) => ({ type: "text_delta", text })),
      }
    case "thinking":
      return {
        start: { ...block, thinking: "", signature: "" },
        deltas: [
          ...chunks(block.thinking, TEXT_CHUNK).map((thinking) => ({ type: "thinking_delta", thinking })),
          { type: "signature_delta", signature: block.signature },
        ],
      }
    case "tool_use": {
      const { inputText, ...start } = block
      const json = inputText ?? JSON.stringify(block.input)
      return {
        start: { ...start, input: {} },
        deltas: inputDeltas(json),
      }
    }
    case "server_tool_use":
      return {
        start: { ...block, input: {} },
        deltas: inputDeltas(JSON.stringify(block.input)),
      }
    case "other":
      return { start: block.block, deltas: [] }
    case "compaction": {
      // a block made on demand is sent complete, one made at a threshold in a single delta
      if (block.signature !== undefined) return { start: { ...block }, deltas: [] }
      const { content, encrypted_content = null } = block
      return {
        start: { type: "compaction", content: null, encrypted_content: null },
        deltas: [{ type: "compaction_delta", content, encrypted_content }],
      }
    }
  }
}

const inputDeltas = (json: string) =>
  ["", ...chunks(json, JSON_CHUNK)].map((partial_json) => ({ type: "input_json_delta", partial_json }))

/** Cuts text into chunks of this many characters, without splitting a surrogate pair. */
function chunks(text: string, size: number): readonly string[] {
  const pieces: string[] = []
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + size, text.length)
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end++
    pieces.push(text.slice(at, end))
    at = end
  }
  return pieces
}

const isHighSurrogate = (code: number) => code >= 0xd800 && code <= 0xdbff

export interface StreamOptions {
  readonly fault: Fault | undefined
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Breaks the connection. */
  readonly cutSocket: () => Promise<void>
  /** Waits until the client leaves. */
  readonly hold: () => Promise<void>
}

/** Makes events one by one, as the client reads them, so that everything sent before a fault has arrived by then. */
export function streamBody(message: MessageResponse, { fault, clock, signal, cutSocket, hold }: StreamOptions) {
  const encoder = new TextEncoder()
  const events = toEvents(message)
  const endless = fault?.kind === "endless" ? endlessFrames(fault.what) : undefined
  const breakAfter = fault && "afterEvents" in fault ? (fault.afterEvents ?? DEFAULT_EVENTS) : DEFAULT_EVENTS
  let sent = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (fault?.kind === "slow-stream") await clock.sleep(fault.delayMs, signal)
        if (fault?.kind === "stall" && sent >= breakAfter) {
          await (fault.pings ? clock.sleep(PING_PAUSE_MS, signal) : hold())
          if (fault.pings && !signal.aborted) return controller.enqueue(encoder.encode(toFrame({ type: "ping" })))
        }
        if (signal.aborted) return controller.close()
        if (endless && sent > 0) return controller.enqueue(encoder.encode(endless.next().value as string))
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
