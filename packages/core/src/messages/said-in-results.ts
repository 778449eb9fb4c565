/**
 * What the person said inside tool results: with the refusal of a call, and as answers to questions. Programs frame both in their own
 * words. A tool could print the same frame, so only results of a program's own tools count.
 */
import { type Block, isToolResult, isToolUse, resultBlocks, type ToolResult, textOf } from "./blocks.ts"
import type { Message, SaidInResult } from "./messages.ts"

const REFUSED =
  /^(?:The user doesn't want to proceed with this tool use\.|Permission for this tool use was denied\.)[^\n]*\bsaid:\n([\s\S]*)$/
/** The program adds a hint of its own after the person's words. */
const HINT = /\n\nNote: The user's next message may contain a correction or preference\.[\s\S]*$/
const ANSWERED = /^(?:User has answered your questions|Your questions have been answered): ([\s\S]*)$/
const ONE_ANSWER = /"[^"\n]*"="([^"\n]*)"/g
export const ASKING_TOOL = "AskUserQuestion"
/** Tools of servers, which can print anything. */
const SERVER_TOOL = /^mcp__/

/** What a program says in the place of a refused call's result: the person's own words in it. */
export function refusalIn(text: string): string | undefined {
  const said = REFUSED.exec(text)?.[1]?.replace(HINT, "")
  return said === undefined || said.trim() === "" ? undefined : said
}

/** The answers in the text that a program gives for its questions. */
export const answersIn = (text: string): readonly string[] =>
  [...(ANSWERED.exec(text)?.[1] ?? "").matchAll(ONE_ANSWER)].map(([, answer]) => answer!).filter((said) => said !== "")

/** The tools that a message calls, by the id of the call. */
export const callsIn = (blocks: readonly Block[]): ReadonlyMap<string, string> =>
  new Map(blocks.filter(isToolUse).map(({ id, name }) => [id, name]))

/** `calls`: the tool of each call. */
export function saidInResults(blocks: readonly Block[], calls: ReadonlyMap<string, string>): readonly SaidInResult[] {
  return blocks.filter(isToolResult).flatMap((result): readonly SaidInResult[] => {
    const tool = calls.get(result.tool_use_id)
    if (tool === undefined || SERVER_TOOL.test(tool)) return []
    const text = textOf(resultBlocks(result))
    if (result.is_error === true) {
      const said = refusalIn(text)
      return said === undefined ? [] : [{ at: "refusal", text: said }]
    }
    return tool === ASKING_TOOL ? answersIn(text).map((said) => ({ at: "answer", text: said })) : []
  })
}

/** Whether a result of this message holds words of the person. Such a result stays in view as it is. */
export function holdsPersonsWords(message: Message, result: ToolResult): boolean {
  const said = message.type === "user" ? (message.saidInResults ?? []) : []
  if (said.length === 0) return false
  const text = textOf(resultBlocks(result))
  return said.some((each) => text.includes(each.text))
}
