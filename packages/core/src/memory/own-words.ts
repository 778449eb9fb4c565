/**
 * A memory in the person's words. Of a file that the agent wrote, only the rule is theirs: the lines **Why:** and **How to apply:**, the
 * name and the description are the agent's.
 */
import { isPersons, type Memory } from "./memory.ts"

const REMARK = /^\s*(?:[-*]\s+)?\*\*(?:Why|How to apply):?\*\*/im
const MOST_NAME_WORDS = 8

/** What the person said, without remarks of the agent. A file that they wrote or confirmed is theirs as a whole. */
export function ownText({ source, body }: Pick<Memory, "source" | "body">): string {
  return source.saidBy === "user" && source.message !== undefined ? ruleIn(body) : body
}

/** The text before the first remark. */
export function ruleIn(body: string): string {
  const at = body.search(REMARK)
  return (at < 0 ? body : body.slice(0, at)).trim()
}

/** A title for a text, made from its own words. */
export function titleOf(text: string): Pick<Memory, "name" | "description"> {
  const first = text.trim().split("\n")[0]!.trim()
  const words = first.split(/\s+/).slice(0, MOST_NAME_WORDS)
  return { name: words.join(" ").replace(/[.,;:!?]+$/, ""), description: first }
}

/** A memory of the person's with a name and a description from their words: a title that the agent made up would be shown as theirs. */
export function inTheirWords(memory: Memory, before?: Memory): Memory {
  if (!isPersons(memory)) return memory
  const isSame = before !== undefined && isPersons(before) && ruleIn(before.body) === ruleIn(memory.body)
  const { name, description } = isSame ? before : titleOf(ruleIn(memory.body))
  return { ...memory, name, description }
}
