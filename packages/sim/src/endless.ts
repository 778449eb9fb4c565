/** Streams that never end, frame by frame: what a broken server or model sends. */
import type { EndlessKind } from "./faults.ts"
import { type StreamEvent, toFrame } from "./stream-frame.ts"

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
