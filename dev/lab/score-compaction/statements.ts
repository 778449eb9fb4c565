/** Content of a conversation before a compaction, taken from the recording: everything that the scores look for. */
import {
  type Content,
  contentOf,
  isFromUser,
  isText,
  isToolResult,
  isToolUse,
  type Message,
  textOf,
} from "@strata/core"
import { resultBlocks, toBlocks } from "../../../packages/core/src/messages/blocks.ts"
import { sentBlocks, userText } from "../../../packages/core/src/messages/messages.ts"
import { artifacts } from "../../../packages/core/src/views/record/artifacts.ts"
import { standingRules } from "../../../packages/core/src/views/record/user-messages.ts"
import { findMeasuredNames } from "../../../packages/transcripts/src/inspect/measured-names.ts"
import { plain } from "./find-in-text.ts"

export interface FileName {
  /** Path as given to the tool. */
  readonly path: string
  /** Path relative to the project's directory, if it is inside. */
  readonly inProject: string
  readonly name: string
}

/** A remark of the user with the message that contains it. */
export interface Remark {
  readonly uuid: string
  readonly text: string
}

export interface UserStatements {
  /** Messages of the user before the previous boundary. The next field has those since. */
  readonly olderMessages: readonly Remark[]
  readonly newerMessages: readonly Remark[]
  /** Remarks of the user when refusing a tool call. They are in the result of the refused call. */
  readonly refusals: readonly Remark[]
  /** Answers of the user to questions. They are in tool results as well. */
  readonly answers: readonly Remark[]
  readonly rules: readonly string[]
  /** Files created or changed, and not deleted later. */
  readonly changed: readonly FileName[]
  /** Files only read. */
  readonly read: readonly FileName[]
  /** Names in the user's and the assistant's text. */
  readonly namesStated: readonly string[]
  /** Names that were stated or typed into a tool, and are stated or typed again after the boundary. */
  readonly namesUsedAgain: readonly string[]
  /** Names that occurred only in results, and are stated or typed after the boundary. */
  readonly namesFromResults: readonly string[]
  /** The complete conversation as one plain text in lower case, to look up quotes in. */
  readonly everything: string
}

export interface MeasuredCompaction {
  /** Messages from the first one to the boundary, without earlier boundaries. */
  readonly before: readonly Message[]
  /** Number of these messages before the previous boundary. */
  readonly older: number
  /** Messages from the boundary to the next one, or to the end. */
  readonly after: readonly Message[]
  readonly cwd?: string
}

const SHORTEST_MESSAGE = 5 // in characters, because "yes" is in any text
const REFUSAL = /^The user doesn't want to proceed with this tool use\.[\s\S]*?the user said:\s*(\S[\s\S]*)$/ // text of Claude Code
const HINT = /\s*Note: The user's next message may contain a correction or preference\.[\s\S]*$/ // the program's own

const ANSWERED = /^(?:User has answered your questions|Your questions have been answered): ([\s\S]*)$/ // text of Claude Code
const ONE_ANSWER = /"[^"\n]*"="([^"\n]*)"/g

export function statementsIn({ before, older, after, cwd = "" }: MeasuredCompaction): UserStatements {
  const spoken = before.filter((message) => !isSummary(message))
  const stated = findMeasuredNames(spoken.map(writtenText).join("\n"))
  const typed = findMeasuredNames(spoken.map(callsOf).join("\n"))
  const seen = findMeasuredNames(spoken.flatMap(resultsOf).join("\n"))
  const later = [
    ...findMeasuredNames(
      after
        .filter((message) => !isSummary(message))
        .map(writtenTextAndCalls)
        .join("\n"),
    ),
  ]
  const isKnown = (name: string) => stated.has(name) || typed.has(name)
  const messages = (list: readonly Message[]) =>
    list
      .filter(isFromUser)
      .map((message): Remark => ({ uuid: message.uuid, text: plain(userText(message)) }))
      .filter(({ text }) => text.length >= SHORTEST_MESSAGE)
  return {
    olderMessages: messages(before.slice(0, older)),
    newerMessages: messages(before.slice(older)),
    refusals: remarksIn(before, (result) => [REFUSAL.exec(result)?.[1]?.replace(HINT, "") ?? ""]),
    answers: remarksIn(before, (result) =>
      [...(ANSWERED.exec(result)?.[1] ?? "").matchAll(ONE_ANSWER)].map(([, answer]) => answer!),
    ),
    rules: [
      ...new Set(
        before
          .filter(isFromUser)
          .flatMap((message) => standingRules(userText(message)))
          .map(plain),
      ),
    ],
    ...filesOf(before, cwd),
    namesStated: [...stated],
    namesUsedAgain: later.filter(isKnown),
    namesFromResults: later.filter((name) => seen.has(name) && !isKnown(name)),
    everything: plain(spoken.map(textSent).join("\n")).toLowerCase(),
  }
}

function remarksIn(messages: readonly Message[], find: (result: string) => readonly string[]): readonly Remark[] {
  return messages.flatMap((message) =>
    resultsOf(message)
      .flatMap(find)
      .map((text) => ({ uuid: message.uuid, text: plain(text) }))
      .filter(({ text }) => text !== ""),
  )
}

/** All text of a message that the model sees: its own, calls, results, attachments. */
export const textSent = (message: Message): string => textSentIn(sentBlocks(message))

export function textSentIn(content: Content): string {
  return toBlocks(content)
    .map((block) => {
      if (isText(block)) return block.text
      if (isToolUse(block)) return stringsIn(block.input)
      return isToolResult(block) ? textOf(resultBlocks(block)) : ""
    })
    .join("\n")
}

export const isSummary = (message: Message): boolean => message.type === "user" && message.isCompactSummary === true

/** Text that the user and the assistant wrote themselves. */
function writtenText(message: Message): string {
  if (message.type === "assistant") return textOf(contentOf(message))
  return isFromUser(message) ? userText(message) : ""
}

function callsOf(message: Message): string {
  if (message.type !== "assistant") return ""
  const calls = contentOf(message).filter(isToolUse)
  return calls.map(({ input }) => stringsIn(input)).join("\n")
}

const writtenTextAndCalls = (message: Message): string => [writtenText(message), callsOf(message)].join("\n")

const resultsOf = (message: Message): readonly string[] =>
  message.type === "user"
    ? contentOf(message)
        .filter(isToolResult)
        .map((block) => textOf(resultBlocks(block)))
    : []

/** Strings of a tool input without JSON escapes. */
function stringsIn(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value)
  return Object.values(value).map(stringsIn).join("\n")
}

function filesOf(messages: readonly Message[], cwd: string): Pick<UserStatements, "changed" | "read"> {
  const { files } = messages.reduce((state, message) => artifacts.apply(state, message), artifacts.start())
  const present = [...files].filter(([path, { deleted }]) => !deleted && !path.endsWith("/")) // a directory is not a file
  const isChanged = ({ created, changes }: { created: boolean; changes: number }) => created || changes > 0
  const named = (list: typeof present) => list.map(([path]) => fileName(path, cwd))
  return {
    changed: named(present.filter(([, facts]) => isChanged(facts))),
    read: named(present.filter(([, facts]) => !isChanged(facts))),
  }
}

function fileName(path: string, cwd: string): FileName {
  const inside = cwd !== "" && path.startsWith(`${cwd}/`)
  return {
    path,
    inProject: inside ? path.slice(cwd.length + 1) : path,
    name: path.split(/[/\\]/).at(-1)!,
  }
}
