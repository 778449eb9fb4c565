/**
 * The random numbers and tool call ids of an answer. Both depend only on the seed and the request, so parallel requests
 * get the same answers in any order of arrival.
 *
 * Random numbers ignore directories, ids, command output and what a client adds between tags of its own. These differ between
 * runs, and the same work in another directory should take the same course. Ids depend on every byte, because no id may occur twice in a conversation.
 */
import { blocksOf, type Turn } from "./conversation.ts"
import { idFrom, seededRandom } from "./identity.ts"
import { digest } from "./seal.ts"
import type { TokenCounter } from "./tokens.ts"
import type { Block, MessagesBody } from "./wire.ts"

const IN_A_PATH = /[/\\]/
const ID = /\b(?=\w*\d)[0-9a-f]{8,}\b/
const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>/g

export interface AnswerChance {
  random(): number
  nextToolUseId(): string
}

export interface AnsweredRequest {
  readonly seed: number
  readonly body: MessagesBody
  readonly turns: readonly Turn[]
  readonly counter: TokenCounter
}

export function chanceOf({ seed, body, turns, counter }: AnsweredRequest): AnswerChance {
  const blocks = turns.flatMap(({ role, blocks }) => blocks.map(({ block }) => ({ role, block })))
  const next = once(() => {
    const course = digest(`${seed}`, body.model, ...blocks.map(({ role, block }) => `${role} ${traceOf(block)}`))
    return seededRandom(Buffer.from(course, "base64url").readUInt32BE())
  })
  const everyByte = once(() => {
    const all = [...blocksOf(body.system), ...blocks.map(({ block }) => block)]
    return digest(`${seed}`, body.model, ...all.map((block) => counter.block(block).hash))
  })
  let calls = 0
  return {
    random: () => next()(),
    nextToolUseId: () => idFrom("toolu", `${everyByte()}:${calls++}`),
  }
}

/** Computed on first use: most brains need no random numbers, and requests are long. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** The part of a block that random numbers depend on. */
function traceOf({ type, name = "", text = "" }: Block): string {
  const spoken = text.replace(REMINDER, "")
  const words = spoken.split(/\s+/).filter((word) => !IN_A_PATH.test(word) && !ID.test(word))
  return [type, name, ...words].join(" ")
}
