/** A caller's order for a summary of its own. It is no message: it is answered from our view, and only what it costs is kept. */
import { type Content, textOf } from "../../messages/blocks.ts"
import type { Uuid } from "../../messages/messages.ts"
import type { Engine } from "../engine.ts"
import type { TakenResponse } from "../response-recorder.ts"

const TELLING = 40 // characters: no two summaries share a line of so many

/** The answer shows later that the caller's summary is of this conversation. */
export function answerAside(engine: Engine, taken: TakenResponse): Promise<Uuid> {
  engine.summaries = linesOf(taken.draft.message.content)
  return engine.recorder.takeAside(taken)
}

/** The lines of an answer by which it is known again, as JSON has them. */
const linesOf = (content: Content): readonly string[] =>
  textOf(content)
    .split("\n")
    .map((line) => JSON.stringify(line.trim()).slice(1, -1))
    .filter(({ length }) => length >= TELLING)
