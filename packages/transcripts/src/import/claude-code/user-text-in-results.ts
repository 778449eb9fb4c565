/**
 * Finds user text inside tool results of Claude Code: with the refusal of a call, and as answers to questions. The program frames both with
 * fixed phrases. They are recorded as a separate class, because a tool could print the same frame.
 */
import type { Block } from "@strata/core"
import type { UserTextInResult } from "@strata/core/messages"
import { findAnswers, findRefusalText, isToolResult, QUESTION_TOOL } from "@strata/core/messages"
import { asObject, getObject, getObjects, getString, getStrings, type JsonObject } from "../json-access.ts"

export function userTextsInResults(
  line: JsonObject,
  { blocks, asked }: { blocks: readonly Block[]; asked: ReadonlySet<string> },
) {
  return blocks.filter(isToolResult).flatMap((result): readonly UserTextInResult[] => {
    const text = textOfResult(asObject(result))
    if (result.is_error === true) return refusal(line, text).map((userText) => ({ at: "refusal", text: userText }))
    if (!asked.has(result.tool_use_id)) return []
    return answers(getObject(line, "toolUseResult"), text).map((userText) => ({ at: "answer", text: userText }))
  })
}

/** The ids of calls that ask the user a question. */
export const questionsIn = (blocks: readonly Block[]): readonly string[] =>
  blocks.flatMap((block) => (block.type === "tool_use" && block.name === QUESTION_TOOL ? block.id : []))

function refusal(line: JsonObject, text: string): readonly string[] {
  const framed = findRefusalText(text)
  const feedback = framed === undefined ? undefined : (getString(line, "userFeedback") ?? framed)
  return feedback === undefined || feedback.trim() === "" ? [] : [feedback]
}

function answers(recorded: JsonObject | undefined, text: string): readonly string[] {
  const given = getObject(recorded, "answers")
  if (given) {
    const notes = Object.values(getObject(recorded, "annotations") ?? {}).map((note) =>
      getString(asObject(note), "notes"),
    )
    const texts = Object.values(given).flatMap((answer) =>
      typeof answer === "string" ? answer : getStrings({ answer }, "answer"),
    )
    return [
      ...new Set(
        [...texts, ...notes.filter((note) => note !== undefined)].filter((userText) => userText.trim() !== ""),
      ),
    ]
  }
  return findAnswers(text)
}

function textOfResult(result: JsonObject | undefined): string {
  return (
    getString(result, "content") ??
    getObjects(result, "content")
      .flatMap((block) => getString(block, "text") ?? [])
      .join("\n")
  )
}
