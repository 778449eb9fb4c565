/**
 * What the person said inside tool results of Claude Code: with the refusal of a call, and as answers to questions. The program frames
 * both in its own words. They are a class of their own, because a tool could print the same frame.
 */
import type { Block } from "@strata/core"
import type { UserTextInResult } from "@strata/core/messages"
import { ASKING_TOOL, answersIn, isToolResult, refusalIn } from "@strata/core/messages"
import { asFields, type Fields, fieldsAt, recordsAt, textAt, textsAt } from "../foreign-json.ts"

export function saidInResults(
  line: Fields,
  { blocks, asked }: { blocks: readonly Block[]; asked: ReadonlySet<string> },
) {
  return blocks.filter(isToolResult).flatMap((result): readonly UserTextInResult[] => {
    const text = textOfResult(asFields(result))
    if (result.is_error === true) return refusal(line, text).map((said) => ({ at: "refusal", text: said }))
    if (!asked.has(result.tool_use_id)) return []
    return answers(fieldsAt(line, "toolUseResult"), text).map((said) => ({ at: "answer", text: said }))
  })
}

/** The calls of a message that ask the person. */
export const questionsIn = (blocks: readonly Block[]): readonly string[] =>
  blocks.flatMap((block) => (block.type === "tool_use" && block.name === ASKING_TOOL ? block.id : []))

function refusal(line: Fields, text: string): readonly string[] {
  const framed = refusalIn(text)
  const said = framed === undefined ? undefined : (textAt(line, "userFeedback") ?? framed)
  return said === undefined || said.trim() === "" ? [] : [said]
}

function answers(recorded: Fields | undefined, text: string): readonly string[] {
  const given = fieldsAt(recorded, "answers")
  if (given) {
    const notes = Object.values(fieldsAt(recorded, "annotations") ?? {}).map((note) => textAt(asFields(note), "notes"))
    const texts = Object.values(given).flatMap((answer) =>
      typeof answer === "string" ? answer : textsAt({ answer }, "answer"),
    )
    return [...new Set([...texts, ...notes.filter((note) => note !== undefined)].filter((said) => said.trim() !== ""))]
  }
  return answersIn(text)
}

function textOfResult(result: Fields | undefined): string {
  return (
    textAt(result, "content") ??
    recordsAt(result, "content")
      .flatMap((block) => textAt(block, "text") ?? [])
      .join("\n")
  )
}
