/**
 * What is random about an answer, and the ids of the tool calls in it: both from the seed and the request alone, so that
 * requests which come in parallel are answered alike in whatever order they arrive.
 *
 * Chance goes by what was said and done, not by every byte: directories, ids and the output of commands differ from one
 * run to the next, and the same work in another directory is to take the same course. Ids go by every byte: they must
 * never come twice in one conversation.
 */
import { blocksOf, type Turn } from "./conversation.ts"
import { idFrom, seededRandom } from "./identity.ts"
import { digest } from "./seal.ts"
import type { TokenCounter } from "./tokens.ts"
import type { Block, MessagesBody } from "./wire.ts"

const IN_A_PATH = /[/\\]/

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

/** Most brains throw no dice, and requests are long. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** What a block shows of the conversation's course. */
function traceOf({ type, name = "", text = "" }: Block): string {
  const words = text.split(/\s+/).filter((word) => !IN_A_PATH.test(word))
  return [type, name, ...words].join(" ")
}
