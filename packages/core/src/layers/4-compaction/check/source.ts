/**
 * Step 4, check. What a summary may draw on: the messages it replaces as the journal has them, what the model saw beside them, and the
 * record. Built once for a compaction, in one pass over the messages.
 */
import { atOnce, type Steps } from "../../../base/in-slices.ts"
import {
  type Block,
  isMedia,
  isText,
  isThinking,
  isToolResult,
  isToolUse,
  resultBlocks,
  textOf,
} from "../../../messages/blocks.ts"
import { handleOf } from "../../../messages/handles.ts"
import { contentOf, isHuman, type Message, type Uuid } from "../../../messages/messages.ts"
import { sentBlocks } from "../../../messages/sent-blocks.ts"
import { ownWords, phrase, sentencesIn, tokensOf } from "./text.ts"
import { indexSteps, TOKENS_PER_STEP, type TokenIndex } from "./token-index.ts"

interface SourceInput {
  /** The messages since the last boundary, as the journal has them: nothing in them is cleared. */
  readonly messages: readonly Message[]
  /** System prompt, instructions and tools, and what the record says about earlier ones. */
  readonly beside?: readonly string[]
  /** What the user said before these messages. */
  readonly saidBefore?: readonly string[]
}

/** One message of the user and what led up to it. */
export interface Turn {
  readonly uuid: Uuid
  readonly text: string
  /** What the assistant said since the user's message before. */
  readonly before: string
}

export interface Source {
  /** Everything, in lower case. */
  readonly raw: string
  /** Everything, word by word. */
  readonly index: TokenIndex
  /** What the user said, word by word: also what earlier summaries and records quote. */
  readonly said: string
  readonly turns: readonly Turn[]
  /** What the user and the assistant wrote, sentence by sentence, without calls and results. */
  readonly sentences: readonly Sentence[]
  /** Words that were said, thought or typed into tools, without their endings and without those that fit any conversation. */
  readonly spoken: ReadonlySet<string>
  /** Where each number occurs: the positions among all words. */
  readonly numbers: ReadonlyMap<string, readonly number[]>
  /** The model saw something that no one can read here: a picture, sealed thinking. A name that is not found may be from there. */
  readonly isPartlyUnreadable: boolean
}

export interface Sentence {
  readonly tokens: readonly string[]
  readonly text: string
}

const NUMBER = /^(\d+(?:\.\d+)*)[a-z%]{0,3}$/
/** Tools whose results carry what the person decided, and the frame around it. In any other result the same words prove nothing. */
const ASKING = { tool: "AskUser", frame: /^The person answers: / }
const PLANNING = { tool: "ExitPlanMode", frame: /^(?:User has approved your plan|The plan is approved)/ }
const LONGEST_TYPED = 2_000 // characters of a call: a file that is written holds more words than were meant
const LONGEST_BEFORE = 6_000 // characters: a yes answers the end of what was said before it
const MOST_POSITIONS = 400 // of one number: a line number that is everywhere says nothing

export const sourceOf = (input: SourceInput): Source => atOnce(sourceSteps(input))

/** The same in steps, because a long conversation takes a second. */
export function* sourceSteps({ messages, beside = [], saidBefore = [] }: SourceInput): Steps<Source> {
  const texts: string[] = [...beside]
  const said: string[] = [...saidBefore]
  const prose: string[] = [...saidBefore]
  const typed: string[] = []
  const turns: Turn[] = []
  const calls = new Map<string, string>()
  let before = ""
  let isPartlyUnreadable = false
  const speak = (uuid: Uuid, text: string) => {
    if (text.trim() === "") return
    said.push(text)
    prose.push(text)
    turns.push({ uuid, text, before: before.slice(-LONGEST_BEFORE) })
    before = ""
  }
  for (const message of messages) {
    yield
    texts.push(handleOf(message.uuid)) // a summary that was cut refers to messages by their handles
    for (const block of sentBlocks(message)) {
      if (isText(block)) {
        texts.push(block.text)
        if (message.type === "assistant") {
          before += `\n${block.text}`
          prose.push(block.text)
        }
      } else if (isToolUse(block)) {
        const input = stringsIn(block.input).join("\n")
        texts.push(block.name, input)
        typed.push(block.name, input.slice(0, LONGEST_TYPED))
        calls.set(block.id, block.name)
        if (/plan|ask|question/i.test(block.name)) before += `\n${input}`
      } else if (isToolResult(block)) {
        const output = typeof block.content === "string" ? block.content : textOf(resultBlocks(block))
        texts.push(output)
        isPartlyUnreadable ||= resultBlocks(block).some(isUnreadable)
        const tool = block.is_error ? undefined : calls.get(block.tool_use_id)
        if (tool === ASKING.tool && ASKING.frame.test(output)) speak(message.uuid, output.replace(ASKING.frame, ""))
        else if (tool === PLANNING.tool && PLANNING.frame.test(output)) speak(message.uuid, "approved your plan")
      } else if (isUnreadable(block)) isPartlyUnreadable = true
      else {
        texts.push(readableIn(block))
        if (isThinking(block)) typed.push(readableIn(block))
      }
    }
    if (message.type === "user") for (const { text } of message.saidInResults ?? []) speak(message.uuid, text)
    if (isHuman(message)) speak(message.uuid, textOf(contentOf(message)))
    else if (isRecord(message)) said.push(textOf(sentBlocks(message)))
  }
  const all = texts.concat(saidBefore)
  const tokens = (yield* eachOf(all, tokensOf)).flat()
  return {
    raw: (yield* eachOf(all, (text) => text.toLowerCase())).join("\n"),
    index: yield* indexSteps(tokens),
    said: (yield* eachOf(said, (text) => phrase(tokensOf(text)))).join("\n"),
    turns,
    sentences: (yield* eachOf(prose, sentencesOf)).flat(),
    spoken: new Set((yield* eachOf([...prose, ...typed], ownWords)).flat()),
    numbers: yield* numbersIn(tokens),
    isPartlyUnreadable,
  }
}

/** A step for each text. */
function* eachOf<T>(texts: readonly string[], read: (text: string) => T): Steps<T[]> {
  const found: T[] = []
  for (const text of texts) {
    found.push(read(text))
    yield
  }
  return found
}

const sentencesOf = (text: string): readonly Sentence[] =>
  sentencesIn(text).map((each) => ({ text: each.text, tokens: tokensOf(each.text) }))

/** Thinking that is sealed or left out, a picture, a document in bytes, and what a server encrypts in its results. */
function isUnreadable(block: Block): boolean {
  if (isThinking(block)) return block.type === "redacted_thinking" || block.thinking === ""
  if (isMedia(block)) return block.source.type !== "text"
  return !isText(block) && stringsIn(block).includes("encrypted_content")
}

/** What the model thought, what a server's tool returned, and documents in plain text. */
function readableIn(block: Block): string {
  if (isThinking(block)) return block.type === "thinking" ? block.thinking : ""
  return stringsIn(block).join("\n")
}

/** An earlier summary and the record that followed it quote the user. A command carries what the user typed after it. */
function isRecord(message: Message): boolean {
  if (message.type === "attachment") return message.attachment.type === "carried_facts"
  if (message.type !== "user") return false
  return message.isCompactSummary === true || textOf(contentOf(message)).includes("<command-args>")
}

function* numbersIn(tokens: readonly string[]): Steps<Map<string, number[]>> {
  const numbers = new Map<string, number[]>()
  for (const [at, token] of tokens.entries()) {
    if (at % TOKENS_PER_STEP === 0) yield
    const digit = token.charCodeAt(0)
    if (digit < 48 || digit > 57) continue
    const number = NUMBER.exec(token)?.[1]
    if (number === undefined) continue
    const places = numbers.get(number)
    if (!places) numbers.set(number, [at])
    else if (places.length < MOST_POSITIONS) places.push(at)
  }
  return numbers
}

/** The texts in a call's input, without the JSON around them. */
function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value]
  if (typeof value === "number" || typeof value === "boolean") return [`${value}`]
  if (Array.isArray(value)) return value.flatMap(stringsIn)
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, item]) => [key, ...stringsIn(item)])
}
