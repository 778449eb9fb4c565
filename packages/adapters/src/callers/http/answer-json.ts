/** An answer that is one JSON text, for the caller. It passes byte for byte, unless it has calls of our own tool. */
import { parseExact, stringifyExact } from "@strata/core/messages"
import type { Body } from "../plan.ts"
import { splicedAnswer } from "../spliced-answer.ts"
import type { AnswerCourse } from "./answer-events.ts"

/** `again` gives the text of the answer that continues one. It throws where the server refuses. */
export interface JsonCourse extends Omit<AnswerCourse, "again"> {
  again(answer: Body): Promise<Buffer | undefined>
}

export async function answerJson(first: Buffer, course: JsonCourse): Promise<Buffer> {
  const before: Body[] = []
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
      await course.whole(answer)
      const { hiddenTool } = course
      const isChanged = hiddenTool !== undefined && (before.length > 0 || calls(answer, hiddenTool))
      return isChanged
        ? Buffer.from(
            stringifyExact(splicedAnswer(before, answer, { tool: hiddenTool, isJson: course.isJson ?? false })),
          )
        : bytes
    }
  } catch (error) {
    await course.brokenOff(before.at(-1))
    throw error
  }
}

const calls = ({ content }: Body, tool: string): boolean =>
  (content as readonly Body[]).some(({ type, name }) => type === "tool_use" && name === tool)

function messageIn(bytes: Buffer): Body | undefined {
  try {
    const value = parseExact(bytes.toString("utf8")) as Body | null
    return value?.type === "message" && Array.isArray(value.content) ? value : undefined
  } catch {
    return undefined
  }
}
