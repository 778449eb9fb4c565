/** What a list shows for a conversation without a title: the first line that the person wrote. */
import { textOf } from "./blocks.ts"
import { contentOf, isRequest, type Message } from "./messages.ts"

const LONGEST = 120 // characters: more than a line of a list shows

/** Of the first message that asks for something in words. */
export function firstWords(messages: Iterable<Message>): string | undefined {
  for (const message of messages) {
    const words = isRequest(message) ? wordsOf(textOf(contentOf(message))) : undefined
    if (words !== undefined) return words
  }
  return undefined
}

/** A line that only announces the next one ("Implement this plan:") is shown with it. */
function wordsOf(text: string): string | undefined {
  const [first, next] = linesOf(text)
  if (first === undefined) return undefined
  return (first.endsWith(":") && next !== undefined ? `${first} ${next.replace(/^#+\s+/, "")}` : first).slice(
    0,
    LONGEST,
  )
}

/** The first two that are not empty. */
function linesOf(text: string): readonly string[] {
  const lines: string[] = []
  for (const [line] of text.matchAll(/[^\n]+/g)) {
    if (line.trim() !== "") lines.push(line.trim())
    if (lines.length === 2) break
  }
  return lines
}
