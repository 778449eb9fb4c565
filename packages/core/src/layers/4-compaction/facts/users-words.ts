/**
 * The user's own messages after a boundary: all standing rules, and as many of the newest messages as the limit allows, verbatim. Each has
 * its handle, so that what is left out can be recalled.
 */
import { fenced } from "../../../messages/attachments.ts"
import { handleOf } from "../../../messages/handles.ts"
import type { Uuid } from "../../../messages/messages.ts"
import type { Word, Words } from "../../../views/record/words.ts"
import { cutText, type Estimate } from "../cut-text.ts"

export interface WordsToRender {
  readonly words: Words
  /** Tokens of all messages together. */
  readonly limit: number
  readonly estimate: Estimate
  /** Messages that stay in the view. They are not repeated. */
  readonly kept: ReadonlySet<Uuid>
}

/** A sentence that was said several times appears once, where it was said last. */
export function renderRules({ messages }: Words): string {
  const handles = new Map<string, Uuid>()
  for (const { rules, uuid } of messages) {
    for (const rule of rules) {
      handles.delete(rule)
      handles.set(rule, uuid)
    }
  }
  const pasted = renderPasted(messages)
  if (handles.size === 0) return pasted === "" ? "" : ["## Standing rules", pasted].join("\n")
  const lines = [...handles].map(([rule, uuid]) => `[${handleOf(uuid)}] ${rule}`)
  return [
    "## Standing rules",
    "Sentences of the user, word for word, oldest first, each after the handle of its message. They apply until the user takes them back; where two contradict each other, the later one applies.",
    fenced(lines.join("\n")),
    ...(pasted === "" ? [] : [pasted]),
  ].join("\n")
}

const MOST_PASTED = 24 // messages named, the newest; more than that do not help to find something

/** Pasted text can be full of sentences that read like rules. They are not listed, but none is lost: each message has its handle. */
function renderPasted(messages: readonly Word[]): string {
  const pasted = messages.filter(({ otherRules = 0 }) => otherRules > 0)
  if (pasted.length === 0) return ""
  const sentences = pasted.reduce((sum, { otherRules = 0 }) => sum + otherRules, 0)
  const named = pasted.slice(-MOST_PASTED).map(({ uuid, otherRules }) => `${handleOf(uuid)} (${otherRules})`)
  const older = pasted.length > named.length ? `${pasted.length - named.length} older messages, ` : ""
  const verb =
    sentences === 1
      ? "sentence of pasted text reads like a rule and is"
      : "sentences of pasted text read like rules and are"
  return `[${sentences} ${verb} not listed here. Recall the handle: ${older}${named.join(", ")}]`
}

export function renderWords({ words: { messages }, limit, estimate, kept }: WordsToRender): string {
  if (messages.length === 0) return ""
  const own = messages.filter(({ uuid }) => !kept.has(uuid))
  const shown = newestThatFit(own, { limit, estimate })
  const elided = own.slice(0, own.length - shown.length)
  const standing = messages.filter(({ uuid }) => kept.has(uuid))
  return [
    "## What the user said",
    "The user's messages, word for word, oldest first, each under its handle.",
    ...(elided.length > 0 ? [`[${count(elided, "earlier message")} left out here: ${rangeOf(elided)}]`] : []),
    ...shown,
    ...(standing.length > 0
      ? [
          `[${count(standing, "message")} not repeated here, because the conversation still holds them: ${rangeOf(standing)}]`,
        ]
      : []),
  ].join("\n")
}

/** The newest one is always included, cut where it alone fills the limit. */
function newestThatFit(
  messages: readonly Word[],
  { limit, estimate }: Pick<WordsToRender, "limit" | "estimate">,
): readonly string[] {
  const shown: string[] = []
  let room = limit
  for (const message of messages.toReversed()) {
    const whole = renderWord(message)
    room -= estimate(`${whole}\n`)
    if (room < 0) {
      if (shown.length === 0) shown.push(renderBeginning(message, { limit, estimate }))
      break
    }
    shown.unshift(whole)
  }
  return shown
}

function renderWord({ uuid, text, isCut }: Word): string {
  const more = isCut ? ` (its first ${text.length} characters; its handle names all of it)` : ""
  return `Message ${handleOf(uuid)}${more}:\n${fenced(text)}`
}

function renderBeginning(message: Word, { limit, estimate }: Pick<WordsToRender, "limit" | "estimate">): string {
  const frame = estimate(renderWord({ ...message, text: "", isCut: true }))
  const text = cutText({ text: message.text, limit: Math.max(0, limit - frame), estimate })
  return renderWord({ ...message, text, isCut: true })
}

function rangeOf(messages: readonly Word[]): string {
  const [first, last] = [messages[0]!, messages.at(-1)!]
  return first === last ? handleOf(first.uuid) : `${handleOf(first.uuid)} to ${handleOf(last.uuid)}`
}

const count = ({ length }: readonly unknown[], what: string) => `${length} ${what}${length === 1 ? "" : "s"}`
