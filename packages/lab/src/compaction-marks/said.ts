/** What a conversation contains before a compaction, taken from the recording: everything the marks look for. */
import {
  artifacts,
  type Content,
  contentOf,
  isHuman,
  isText,
  isToolResult,
  isToolUse,
  type Message,
  resultBlocks,
  sentBlocks,
  standingRules,
  textOf,
  toBlocks,
} from "@strata/core/internal"
import { factsIn } from "./facts-said.ts"
import { isIn, plain } from "./find-in-text.ts"

export interface FileName {
  /** As the tool was given it. */
  readonly path: string
  /** Relative to the project's directory, if it is inside. */
  readonly inProject: string
  readonly name: string
}

export interface Said {
  /** Messages of the user, before the previous boundary and since. */
  readonly olderMessages: readonly string[]
  readonly newerMessages: readonly string[]
  /** Remarks of the user when refusing a tool call. They are in the result of that call. */
  readonly refusals: readonly string[]
  readonly rules: readonly string[]
  /** Created or changed, and not deleted later. */
  readonly changed: readonly FileName[]
  /** Only read. */
  readonly read: readonly FileName[]
  readonly facts: readonly string[]
  readonly factsUsedAgain: readonly string[]
  /** The whole conversation as one plain text in lower case, to look up quotes in. */
  readonly everything: string
}

export interface SaidInput {
  /** From the first message to the boundary, without earlier boundaries. */
  readonly before: readonly Message[]
  /** How many of them are before the previous boundary. */
  readonly older: number
  /** From the boundary to the next one, or to the end. */
  readonly after: readonly Message[]
  readonly cwd?: string
}

const SHORTEST_MESSAGE = 5 // characters: "yes" is in any text
const REFUSAL = /^The user doesn't want to proceed with this tool use\.[\s\S]*?the user said:\s*(\S[\s\S]*)$/ // Claude Code

export function saidIn({ before, older, after, cwd = "" }: SaidInput): Said {
  const spoken = before.filter((message) => !isSummary(message))
  const facts = [...factsIn(spoken.map(wordsOf).join("\n"))]
  const later = plain(
    after
      .filter((message) => !isSummary(message))
      .map(wordsAndCallsOf)
      .join("\n"),
  )
  const human = (messages: readonly Message[]) => messages.filter(isHuman).map((message) => textOf(contentOf(message)))
  const counted = (messages: readonly Message[]) =>
    human(messages)
      .map(plain)
      .filter(({ length }) => length >= SHORTEST_MESSAGE)
  return {
    olderMessages: counted(before.slice(0, older)),
    newerMessages: counted(before.slice(older)),
    refusals: before.flatMap(resultsOf).flatMap((result) => {
      const words = REFUSAL.exec(result)?.[1]
      return words === undefined ? [] : plain(words)
    }),
    rules: [...new Set(human(before).flatMap(standingRules).map(plain))],
    ...filesOf(before, cwd),
    facts,
    factsUsedAgain: facts.filter((fact) => isIn(fact, later)),
    everything: plain(spoken.map(textSent).join("\n")).toLowerCase(),
  }
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

/** The text that the person and the assistant wrote themselves. */
function wordsOf(message: Message): string {
  return message.type === "assistant" || isHuman(message) ? textOf(contentOf(message)) : ""
}

function wordsAndCallsOf(message: Message): string {
  if (message.type !== "assistant") return wordsOf(message)
  const calls = contentOf(message).filter(isToolUse)
  return [wordsOf(message), ...calls.map(({ input }) => stringsIn(input))].join("\n")
}

const resultsOf = (message: Message): readonly string[] =>
  message.type === "user"
    ? contentOf(message)
        .filter(isToolResult)
        .map((block) => textOf(resultBlocks(block)))
    : []

/** The strings of an input without JSON escapes. */
function stringsIn(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value)
  return Object.values(value).map(stringsIn).join("\n")
}

function filesOf(messages: readonly Message[], cwd: string): Pick<Said, "changed" | "read"> {
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
