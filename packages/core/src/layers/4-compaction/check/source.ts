/**
 * Step 4, check. The text that a summary may draw on: the replaced messages as they are in the journal, other content that the model saw,
 * and the record. Built once for each compaction, in one pass over the messages.
 */

import { type CooperativeTask, runSync } from "../../../base/work.ts"
import { isText, isThinking, isToolResult, isToolUse, resultBlocks, textOf } from "../../../messages/blocks.ts"
import { handleOf } from "../../../messages/media.ts"
import { contentOf, isFromUser, type Message, sentBlocks, type Uuid } from "../../../messages/messages.ts"
import { distinctiveWords, joinTokens, sentencesIn, tokensOf } from "./text.ts"
import { readableIn, stringsIn, UnreadableParts, type UnreadableSource } from "./unreadable.ts"

interface SourceInput {
  /** The messages since the last boundary as they are in the journal, without clearing. */
  readonly messages: readonly Message[]
  /** System prompt, instructions and tools, and what the record says about earlier messages. */
  readonly otherTexts?: readonly string[]
  /** Texts of the user from before these messages. */
  readonly earlierUserTexts?: readonly string[]
}

/** One message of the user, with the assistant's text before it. */
export interface UserTurn {
  readonly uuid: Uuid
  readonly text: string
  /** The assistant's text since the user's previous message. */
  readonly before: string
}

export interface AuditSource {
  /** All text in lower case. */
  readonly raw: string
  /** Word index of all text. */
  readonly index: TokenIndex
  /** Words of the user, including those that earlier summaries and records quote. */
  readonly userText: string
  readonly turns: readonly UserTurn[]
  /** Sentences of the user and the assistant, without calls and results. */
  readonly sentences: readonly SourceSentence[]
  /** Stems of words that were written, thought or passed to tools, without generic words. */
  readonly spoken: ReadonlySet<string>
  /** Positions of each number in the word index. */
  readonly numbers: ReadonlyMap<string, readonly number[]>
  /** Content that the model saw and that cannot be read here. An unknown name may come from it. */
  readonly unreadable: UnreadableSource
}

export interface SourceSentence {
  readonly tokens: readonly string[]
  readonly text: string
}

const NUMBER = /^(\d+(?:\.\d+)*)[a-z%]{0,3}$/
/** Tools whose results contain a decision of the user, and the frame around it. In any other result the same words prove nothing. */
const QUESTION_RESULT = { tool: "AskUser", frame: /^The person answers: / }
const PLAN_RESULT = { tool: "ExitPlanMode", frame: /^(?:User has approved your plan|The plan is approved)/ }
const MAX_TYPED = 2_000 // characters of a call: a file that is written holds more words than were meant
const MAX_BEFORE = 6_000 // characters: a yes answers the end of the text before it
const MAX_POSITIONS = 400 // of one number: a line number that is everywhere says nothing

export const buildSource = (input: SourceInput): AuditSource => runSync(sourceSteps(input))

/** `buildSource` as a cooperative task, because a long conversation takes a second. */
export function* sourceSteps({
  messages,
  otherTexts = [],
  earlierUserTexts = [],
}: SourceInput): CooperativeTask<AuditSource> {
  const texts: string[] = [...otherTexts]
  const userTexts: string[] = [...earlierUserTexts]
  const prose: string[] = [...earlierUserTexts]
  const typed: string[] = []
  const turns: UserTurn[] = []
  const calls = new Map<string, { readonly name: string; readonly input: string }>()
  const unreadable = new UnreadableParts()
  let before = ""
  const speak = (uuid: Uuid, text: string) => {
    if (text.trim() === "") return
    userTexts.push(text)
    prose.push(text)
    turns.push({ uuid, text, before: before.slice(-MAX_BEFORE) })
    before = ""
  }
  for (const message of messages) {
    yield
    texts.push(handleOf(message.uuid)) // a summary that was cut refers to messages by their handles
    for (const block of sentBlocks(message)) {
      if (isText(block)) {
        texts.push(isEarlierSummary(message) ? unreadable.summary(block.text) : block.text)
        if (message.type === "assistant") {
          before += `\n${block.text}`
          prose.push(block.text)
          unreadable.answer(block.text)
        }
      } else if (isToolUse(block)) {
        const input = stringsIn(block.input).join("\n")
        texts.push(block.name, input)
        typed.push(block.name, input.slice(0, MAX_TYPED))
        calls.set(block.id, { name: block.name, input })
        if (/plan|ask|question/i.test(block.name)) before += `\n${input}`
      } else if (isToolResult(block)) {
        const output = typeof block.content === "string" ? block.content : textOf(resultBlocks(block))
        texts.push(output)
        const call = calls.get(block.tool_use_id)
        for (const part of resultBlocks(block)) unreadable.see(part, { call: call?.input, text: output })
        const tool = block.is_error ? undefined : call?.name
        if (tool === QUESTION_RESULT.tool && QUESTION_RESULT.frame.test(output))
          speak(message.uuid, output.replace(QUESTION_RESULT.frame, ""))
        else if (tool === PLAN_RESULT.tool && PLAN_RESULT.frame.test(output)) speak(message.uuid, "approved your plan")
      } else {
        unreadable.see(block, { text: textOf(sentBlocks(message)) })
        texts.push(readableIn(block))
        if (isThinking(block)) typed.push(readableIn(block))
      }
    }
    if (message.type === "user") for (const { text } of message.saidInResults ?? []) speak(message.uuid, text)
    if (isFromUser(message)) speak(message.uuid, textOf(contentOf(message)))
    else if (isRecord(message)) userTexts.push(asTyped(textOf(sentBlocks(message))))
  }
  const all = texts.concat(earlierUserTexts)
  const tokens = (yield* mapInSteps(all, tokensOf)).flat()
  return {
    raw: (yield* mapInSteps(all, (text) => text.toLowerCase())).join("\n"),
    index: yield* indexSteps(tokens),
    userText: (yield* mapInSteps(userTexts, (text) => joinTokens(tokensOf(text)))).join("\n"),
    turns,
    sentences: (yield* mapInSteps(prose, sentencesOf)).flat(),
    spoken: new Set((yield* mapInSteps([...prose, ...typed], distinctiveWords)).flat()),
    numbers: yield* numbersIn(tokens),
    unreadable,
  }
}

/** Maps the texts, with one step for each. */
function* mapInSteps<T>(texts: readonly string[], read: (text: string) => T): CooperativeTask<T[]> {
  const found: T[] = []
  for (const text of texts) {
    found.push(read(text))
    yield
  }
  return found
}

const sentencesOf = (text: string): readonly SourceSentence[] =>
  sentencesIn(text).map((each) => ({ text: each.text, tokens: tokensOf(each.text) }))

const isEarlierSummary = (message: Message): boolean => message.type === "user" && message.isCompactSummary === true

/** Whether a message quotes the user: an earlier summary, the record that followed it, or a command with the user's arguments. */
function isRecord(message: Message): boolean {
  if (message.type === "attachment") return message.attachment.type === "carried_facts"
  return isEarlierSummary(message) || (message.type === "user" && COMMAND.test(textOf(contentOf(message))))
}

const COMMAND = /<command-name>(.*?)<\/command-name>/
const ARGUMENTS = /<command-args>([\s\S]*?)<\/command-args>/

/** A command as the user typed it, in one line; other texts unchanged. */
function asTyped(text: string): string {
  const name = COMMAND.exec(text)?.[1]
  return name === undefined ? text : `${name} ${ARGUMENTS.exec(text)?.[1] ?? ""}`
}

function* numbersIn(tokens: readonly string[]): CooperativeTask<Map<string, number[]>> {
  const numbers = new Map<string, number[]>()
  for (const [at, token] of tokens.entries()) {
    if (at % TOKENS_PER_STEP === 0) yield
    const digit = token.charCodeAt(0)
    if (digit < 48 || digit > 57) continue
    const number = NUMBER.exec(token)?.[1]
    if (number === undefined) continue
    const positions = numbers.get(number)
    if (!positions) numbers.set(number, [at])
    else if (positions.length < MAX_POSITIONS) positions.push(at)
  }
  return numbers
}

// Step 4, check. An index of the words of a long text, built in one pass, so that phrases are found without reading the text again.

export interface TokenIndex {
  readonly tokens: readonly string[]
  /** Iterates over the distinct words. */
  words(): Iterable<string>
  /** Positions of a word, in ascending order. */
  at(token: string): Int32Array
  /** Start positions of these consecutive words, at most `max`. */
  positionsOf(tokens: readonly string[], max: number): readonly number[]
  /** Whether these words occur consecutively. True for an empty list. */
  has(tokens: readonly string[]): boolean
}

const NOWHERE = new Int32Array(0)
/** Limit of comparisons, in multiples of the phrase length. Only a text that repeats itself for pages reaches it. */
const MAX_COMPARED = 200

/** Number of words per step. A step takes about a millisecond. */
export const TOKENS_PER_STEP = 10_000

export function* indexSteps(tokens: readonly string[]): CooperativeTask<TokenIndex> {
  const ids = new Map<string, number>()
  const counts: number[] = []
  const idAt = new Int32Array(tokens.length)
  for (let position = 0; position < tokens.length; position++) {
    if (position % TOKENS_PER_STEP === 0) yield
    const token = tokens[position]!
    let id = ids.get(token)
    if (id === undefined) {
      id = counts.length
      ids.set(token, id)
      counts.push(0)
    }
    counts[id]!++
    idAt[position] = id
  }
  const starts = new Int32Array(counts.length + 1)
  for (let id = 0; id < counts.length; id++) starts[id + 1] = starts[id]! + counts[id]!
  const next = starts.slice()
  const positions = new Int32Array(tokens.length)
  for (let position = 0; position < tokens.length; position++) {
    if (position % TOKENS_PER_STEP === 0) yield
    positions[next[idAt[position]!]!++] = position
  }

  function at(token: string): Int32Array {
    const id = ids.get(token)
    return id === undefined ? NOWHERE : positions.subarray(starts[id]!, starts[id + 1]!)
  }

  function placesOf(phrase: readonly string[], max: number): readonly number[] {
    const wantedIds = phrase.map((token) => ids.get(token) ?? -1)
    let rarest = 0
    for (const [position, id] of wantedIds.entries()) {
      if (id < 0) return []
      if (counts[id]! < counts[wantedIds[rarest]!]!) rarest = position
    }
    if (phrase.length === 0) return []
    let left = phrase.length * MAX_COMPARED
    const isAt = (start: number) => {
      if (start < 0 || start + wantedIds.length > idAt.length) return false
      let same = 0
      while (same < wantedIds.length && idAt[start + same] === wantedIds[same]) same++
      left -= same
      return same === wantedIds.length
    }
    const id = wantedIds[rarest]!
    const found: number[] = []
    for (let position = starts[id]!; position < starts[id + 1]! && found.length < max && left > 0; position++)
      if (isAt(positions[position]! - rarest)) found.push(positions[position]! - rarest)
    return found
  }

  const has = (phrase: readonly string[]): boolean => phrase.length === 0 || placesOf(phrase, 1).length > 0

  return { tokens, words: () => ids.keys(), at, positionsOf: placesOf, has }
}
