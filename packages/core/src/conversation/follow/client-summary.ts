/** A client's request for its own summary. It is not a message: it is answered from the current view, and only its cost is recorded. */
import { type Content, textOf } from "../../messages/blocks.ts"
import type { Uuid } from "../../messages/messages.ts"
import type { Engine } from "../engine.ts"
import type { ReceivedResponse } from "../response-recorder.ts"

const MIN_DISTINCTIVE = 40 // characters; no two summaries share a line of this length

/** Records the response, which later identifies the client's summary as one of this conversation. */
export function answerAside(engine: Engine, taken: ReceivedResponse): Promise<Uuid> {
  engine.summaries = distinctiveLines(taken.draft.message.content)
  return engine.recorder.takeAside(taken)
}

/** The distinctive lines of a response, JSON-encoded. */
const distinctiveLines = (content: Content): readonly string[] =>
  textOf(content)
    .split("\n")
    .map((line) => JSON.stringify(line.trim()).slice(1, -1))
    .filter(({ length }) => length >= MIN_DISTINCTIVE)
