/** Relays a response that is one JSON text. It passes byte for byte, unless it contains calls of Strata's tool. */
import { parseExact, stringifyExact } from "@strata/core/messages"
import { mergeAnswers } from "../merged-answer.ts"
import type { ApiBody } from "../plan.ts"
import type { AnswerHandlers } from "./answer-events.ts"

/** `again` returns the text of the continuing response. It throws if the server refuses it. */
export interface JsonAnswerHandlers extends Omit<AnswerHandlers, "again"> {
  again(answer: ApiBody): Promise<Buffer | undefined>
}

export async function answerJson(first: Buffer, course: JsonAnswerHandlers): Promise<Buffer> {
  const before: ApiBody[] = []
  let bytes: Buffer = first
  try {
    for (;;) {
      const answer = messageIn(bytes)
      if (!answer) {
        await course.brokenOff(before.at(-1))
        return bytes
      }
      const next = course.hiddenTool === undefined ? undefined : await course.again(answer)
      if (next) {
        before.push(answer)
        bytes = next
        continue
      }
      await course.completed(answer)
      const { hiddenTool } = course
      const isChanged = hiddenTool !== undefined && (before.length > 0 || calls(answer, hiddenTool))
      return isChanged
        ? Buffer.from(
            stringifyExact(mergeAnswers(before, answer, { tool: hiddenTool, isJson: course.isJson ?? false })),
          )
        : bytes
    }
  } catch (error) {
    await course.brokenOff(before.at(-1))
    throw error
  }
}

const calls = ({ content }: ApiBody, tool: string): boolean =>
  (content as readonly ApiBody[]).some(({ type, name }) => type === "tool_use" && name === tool)

function messageIn(bytes: Buffer): ApiBody | undefined {
  try {
    const value = parseExact(bytes.toString("utf8")) as ApiBody | null
    return value?.type === "message" && Array.isArray(value.content) ? value : undefined
  } catch {
    return undefined
  }
}
