/**
 * The line that replaces a folded range: its size, the request, changed files, commands and their results, and how to recall it. Computed
 * from the messages alone; the decision stores the text, so it never changes. It is sent as a user message, so external text is quoted
 * wherever it could be mistaken for the line itself.
 */

import { maskSecrets } from "../../base/secrets/find-secrets.ts"
import { formatNumber, pluralize } from "../../base/text.ts"
import { isText, isToolUse, quoted, textOf } from "../../messages/blocks.ts"
import { handleOf } from "../../messages/media.ts"
import { contentOf, isRequest, type Message } from "../../messages/messages.ts"
import { project } from "../../views/projection.ts"
import { artifacts, fileFate } from "../../views/record/artifacts.ts"

const MAX_TEXT = 160 // characters of the request and of the answer
const MAX_COMMAND = 60 // characters
const MAX_READ = 4_000 // characters that a line is cut from
const MAX_FILES = 5
const MAX_COMMANDS = 3

export function foldedLine(messages: readonly Message[]): string {
  const { files, commands } = project(artifacts, messages)
  const changed = [...files]
    .filter(([, facts]) => fileFate(facts) !== "read")
    .map(([path]) => quoteUnlessPlain(path, MAX_TEXT))
  const ran = [...commands].map(
    ([command, { failed }]) => `${quoteUnlessPlain(command, MAX_COMMAND)}${failed ? " (failed)" : ""}`,
  )
  const requests = messages.filter(isRequest)
  const answer = messages.findLast((message) => message.type === "assistant" && hasText(message))
  const sentences = [
    `${describeSize(messages)}.`,
    describeRequests(requests),
    describeList("Changed", changed, MAX_FILES),
    describeList("Ran", ran, MAX_COMMANDS),
    answer ? `Answered: ${quoted(openingText(answer))}.` : "",
    `Recall: ${handleOf(messages[0]!.uuid)} to ${handleOf(messages.at(-1)!.uuid)}`,
  ]
  return `[Folded: ${sentences.filter(Boolean).join(" ")}]`
}

/** Number of messages of the user, the model and the tools, without attachments. */
export const countMessages = (messages: readonly Message[]): number =>
  messages.filter(({ type }) => type === "user" || type === "assistant").length

export const toolCallsIn = (messages: readonly Message[]): number =>
  messages.flatMap((message) => (message.type === "assistant" ? contentOf(message).filter(isToolUse) : [])).length

/** The beginning of a message's text, in one line. */
export function openingText(message: Message, max = MAX_TEXT): string {
  const blocks = message.type === "user" || message.type === "assistant" ? contentOf(message).filter(isText) : []
  return inOneLine(textOf(blocks), max)
}

function describeSize(messages: readonly Message[]): string {
  const calls = toolCallsIn(messages)
  return `${pluralize(countMessages(messages), "message")}${calls === 0 ? "" : `, ${pluralize(calls, "tool call")}`}`
}

function describeRequests(requests: readonly Message[]): string {
  if (requests.length === 0) return ""
  const more = requests.length === 1 ? "" : ` and ${pluralize(requests.length - 1, "more request")}`
  return `Asked: ${quoted(openingText(requests[0]!))}${more}.`
}

/** Lists the newest items. */
function describeList(title: string, items: readonly string[], max: number): string {
  if (items.length === 0) return ""
  const left = items.length - max
  return `${title}: ${items.slice(-max).join(", ")}${left > 0 ? ` and ${formatNumber(left)} more` : ""}.`
}

const hasText = (message: Message): boolean => openingText(message) !== ""

/** Matches a path or a plain command. Any other text could end the line or start a sentence of it. */
const PLAIN = /^[\w./@+~=-]+(?:(?<!\.) [\w./@+~=-]+)*$/

function quoteUnlessPlain(text: string, max: number): string {
  const line = inOneLine(text, max)
  return PLAIN.test(line) || (line.endsWith("…") && PLAIN.test(line.slice(0, -1))) ? line : quoted(line)
}

function inOneLine(text: string, max: number): string {
  const line = maskSecrets(text.slice(0, MAX_READ))
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
  return (line.length > max ? `${line.slice(0, max).trimEnd()}…` : line).toWellFormed()
}
