/**
 * Plays back a recorded conversation: answers each request with the recording's next assistant turn, with the recorded tool_use ids. It
 * finds its position from the content of the request, so compaction, clearing and restarts do no harm.
 *
 * A request for a summary, notes or progress that is not in the recording gets a truthful answer.
 */

import type { Answer, AnswerBlock, Responder, ResponderBlock, ResponderMessage, ResponderTurn } from "../responder.ts"
import { constrainResponder } from "./constrained.ts"
import { extractiveAnswer } from "./extractive.ts"

/** A message as the API accepts it. A string means one text block. */
export interface RecordedMessage {
  readonly role: "user" | "assistant" | "system"
  readonly content: string | readonly ResponderBlock[]
}

export interface PlaybackOptions {
  /** The answer after the recording's last assistant turn. Default: a sentence that reports the end. */
  readonly atEnd?: Answer
}

interface Recording {
  /** The assistant's turns in order. Consecutive assistant messages are one turn. */
  readonly turns: readonly Answer[]
  /** By tool_use id: how many turns have been played once its result is present. */
  readonly turnsAfterCall: ReadonlyMap<string, number>
  /** The user's texts, each with the number of turns before it. */
  readonly texts: readonly { readonly text: string; readonly turnsBefore: number }[]
}

const RECORDING_ENDS: Answer = { content: [{ type: "text", text: "The recording ends here." }] }
const NOTHING_PLAYABLE: AnswerBlock = { type: "text", text: "(The recording has nothing here that can be played.)" }
const MIN_ANCHOR_LENGTH = 24 // characters; shorter texts ("yes", "continue") occur too often

export function playbackResponder(
  conversation: readonly RecordedMessage[],
  { atEnd = RECORDING_ENDS }: PlaybackOptions = {},
): Responder {
  const recording = readRecording(conversation)
  let played = 0
  return constrainResponder({
    name: "playback",
    answer(turn) {
      const asked = isRecorded(turn, recording) ? undefined : extractiveAnswer(turn)
      if (asked !== undefined) return asked
      const position = findPosition({ messages: turn.request.messages, recording, played })
      played = position + 1
      return recording.turns[position] ?? atEnd
    },
  })
}

function readRecording(conversation: readonly RecordedMessage[]): Recording {
  const turns: AnswerBlock[][] = []
  const turnsAfterCall = new Map<string, number>()
  const texts: { text: string; turnsBefore: number }[] = []
  let previous: RecordedMessage["role"] | undefined
  for (const message of conversation) {
    const blocks = blocksOf(message.content)
    if (message.role === "assistant") {
      if (previous === "assistant") turns.at(-1)!.push(...blocks.flatMap(playable))
      else turns.push(blocks.flatMap(playable))
      for (const { type, id } of blocks) {
        if (type === "tool_use" && id !== undefined) turnsAfterCall.set(id, turns.length)
      }
    } else {
      texts.push(...textsOf(blocks).map((text) => ({ text, turnsBefore: turns.length })))
    }
    previous = message.role
  }
  return {
    turns: turns.map((content) => ({ content: content.length > 0 ? content : [NOTHING_PLAYABLE] })),
    turnsAfterCall,
    texts,
  }
}

function playable(block: ResponderBlock): AnswerBlock[] {
  if (block.type === "text" && block.text?.trim()) return [{ type: "text", text: block.text }]
  if (block.type === "thinking" && block.thinking?.trim()) return [{ type: "thinking", thinking: block.thinking }]
  if (block.type !== "tool_use" || block.id === undefined || block.name === undefined) return []
  return [{ type: "tool_use", id: block.id, name: block.name, input: block.input ?? {} }]
}

/**
 * The number of turns already played, from the best evidence available: the last recorded tool_use id, the user's texts after it, how many
 * turns this responder has played, a recorded text quoted in a summary, or a plain count.
 */
function findPosition(given: { messages: readonly ResponderMessage[]; recording: Recording; played: number }): number {
  const { messages, recording, played } = given
  const call = lastKnownCall(messages, recording)
  const place = lastKnownText({ messages, recording, after: call }) ?? call
  if (place !== undefined) return place.turns + countAnswers(messages.slice(place.message + 1))
  if (played > 0) return played
  return quotedPosition(messages, recording) ?? countAnswers(messages)
}

/** A message of the request, and how many recorded turns had been played when it was sent. */
interface KnownPosition {
  readonly message: number
  readonly turns: number
}

function lastKnownCall(
  messages: readonly ResponderMessage[],
  { turnsAfterCall }: Recording,
): KnownPosition | undefined {
  for (const [message, { content }] of [...messages.entries()].toReversed()) {
    for (const block of content.toReversed()) {
      const id = block.tool_use_id ?? block.id
      const turns = id === undefined ? undefined : turnsAfterCall.get(id)
      if (turns !== undefined) return { message, turns }
    }
  }
  return undefined
}

/** Walks the request's user texts in step with the recorded ones, because "continue" may occur many times. */
function lastKnownText(given: {
  messages: readonly ResponderMessage[]
  recording: Recording
  after: KnownPosition | undefined
}): KnownPosition | undefined {
  const { messages, recording, after = { message: 0, turns: 0 } } = given
  const { texts } = recording
  let next = texts.findIndex(({ turnsBefore }) => turnsBefore >= after.turns)
  let place: KnownPosition | undefined
  for (const [message, { role, content }] of messages.entries()) {
    if (role === "assistant" || message < after.message || next < 0) continue
    for (const text of textsOf(content)) {
      const found = texts.findIndex((recorded, index) => index >= next && recorded.text === text)
      if (found < 0) continue
      place = { message, turns: texts[found]!.turnsBefore }
      next = found + 1
    }
  }
  return place
}

function countAnswers(messages: readonly ResponderMessage[]): number {
  return messages.filter(({ role }) => role === "assistant").length
}

function quotedPosition(messages: readonly ResponderMessage[], { texts }: Recording): number | undefined {
  const shown = messages.flatMap(({ content }) => textsOf(content)).join("\n")
  return texts.findLast(({ text }) => text.length >= MIN_ANCHOR_LENGTH && shown.includes(text))?.turnsBefore
}

/** Whether the user's newest message is in the recording. If so, the recorded answer follows. */
function isRecorded(turn: ResponderTurn, { texts }: Recording): boolean {
  if (turn.summary) return false
  const newest = turn.request.messages
    .flatMap(({ role, content }) => (role === "assistant" ? [] : textsOf(content)))
    .at(-1)
  return texts.some(({ text }) => text === newest)
}

function textsOf(blocks: readonly ResponderBlock[]): string[] {
  return blocks.flatMap(({ type, text }) => (type === "text" && text !== undefined ? [text] : []))
}

function blocksOf(content: RecordedMessage["content"]): readonly ResponderBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content
}
