/**
 * Step 3, summarise. Makes what a summariser reads fit its window. Messages that do not fit are divided into chunks of whole rounds. A
 * single round that does not fit is cut harder and harder. Summaries of parts that do not fit together are joined in groups.
 */
import { atOnce, type Steps } from "../../../base/in-slices.ts"
import { type Block, isMedia, isText, isToolResult, isToolUse, resultBlocks, textOf } from "../../../messages/blocks.ts"
import type { FlatMessage } from "../../../messages/flatten.ts"
import { isSentToModel, type Message } from "../../../messages/messages.ts"
import { type Round, rounds } from "../../../messages/rounds.ts"
import type { Estimator } from "../../../tokens/estimate.ts"
import { cutMiddle } from "../cut-text.ts"
import { INPUT_LIMITS, type InputLimits, summaryInput } from "./summary-input.ts"

/** The room there is, in tokens, and what measures it. */
export interface Room {
  readonly budget: number
  readonly estimator: Estimator
  /** How much of one result or text may stay. Default: by the room. */
  readonly limits?: InputLimits
  /** Whether the summariser takes pictures and documents as the conversation has them. */
  readonly media?: boolean
  /** Share of the rounds that is dropped where a provider finds the request too long without saying by how much. */
  readonly dropShare?: number | undefined
}

const MESSAGE_TOKENS = 4 // role and separators around each
const RESULT_SHARE = 0.1 // of the room: no single result may take more
const TEXT_SHARE = 0.4
const CHARACTERS_PER_TOKEN = 4 // where only the order of magnitude matters
const SMALLEST: InputLimits = { result: 100, text: 400 }
const CHUNK_SLACK = 50 // tokens for the line that names the part
const HARDER = 2 // limits are divided by this each time

export function sizeOf(messages: readonly FlatMessage[], estimator: Estimator): number {
  return messages.reduce((sum, { content }) => sum + estimator.blocks(content) + MESSAGE_TOKENS, 0)
}

/** How much of one result or text may stay in a room of this size: less than usual in a small window. */
export function limitsIn({ budget, limits }: Room): InputLimits {
  if (limits) return limits
  const part = (share: number) => Math.floor(budget * share * CHARACTERS_PER_TOKEN)
  return {
    result: Math.max(SMALLEST.result, Math.min(INPUT_LIMITS.result, part(RESULT_SHARE))),
    text: Math.max(SMALLEST.text, Math.min(INPUT_LIMITS.text, part(TEXT_SHARE))),
  }
}

/** What a round adds to a request. On its own it would get a made-up first message, which does not count. */
export function roundSize(round: Round, room: Room): number {
  const input = summaryInput(round, { limits: limitsIn(room) })
  const beginsAlone = round.find(isSentToModel)?.type === "assistant"
  return sizeOf(beginsAlone ? input.slice(1) : input, room.estimator)
}

/** Groups of rounds of about equal size, each within the room. A round that exceeds the room is a group of its own. */
export const chunksOf = (messages: readonly Message[], room: Room): Chunks => atOnce(chunkSteps(messages, room))

type Chunks = readonly (readonly Round[])[]

/** The same in steps, one for each round. */
export function* chunkSteps(messages: readonly Message[], room: Room): Steps<Chunks> {
  const sized: { readonly round: Round; readonly size: number }[] = []
  for (const round of rounds(messages)) {
    sized.push({ round, size: roundSize(round, room) })
    yield
  }
  const most = room.budget - CHUNK_SLACK
  const total = sized.reduce((sum, { size }) => sum + size, 0)
  const target = total / Math.max(1, Math.ceil(total / most))
  const chunks: Round[][] = []
  let filled = Number.POSITIVE_INFINITY
  for (const { round, size } of sized) {
    // a chunk that has reached its share is closed, and none grows over the room
    if ((filled >= target && size > 0) || filled + size > most) {
      chunks.push([])
      filled = 0
    }
    chunks.at(-1)!.push(round)
    filled += size
  }
  return chunks
}

const MOST_MEDIA = 20 // in one request: beyond it the API takes only small pictures

/** The messages as a summariser reads them, within the room: with what the model thought and was shown, where that fits. */
export function fitted(messages: readonly Message[], room: Room): readonly FlatMessage[] {
  const { budget, estimator, media = false } = room
  let limits = limitsIn(room)
  for (const shown of media ? [{ thinking: true, media }, { thinking: true }] : [{ thinking: true }]) {
    const all = summaryInput(messages, { limits, ...shown })
    if (sizeOf(all, estimator) <= budget && mediaIn(all) <= MOST_MEDIA) return all
  }
  let input = summaryInput(messages, { limits })
  while (sizeOf(input, estimator) > budget) {
    if (limits.result <= SMALLEST.result && limits.text <= SMALLEST.text) return asOneText(input, room)
    limits = {
      result: Math.max(SMALLEST.result, Math.floor(limits.result / HARDER)),
      text: Math.max(SMALLEST.text, Math.floor(limits.text / HARDER)),
    }
    input = summaryInput(messages, { limits })
  }
  return input
}

const mediaIn = (messages: readonly FlatMessage[]): number =>
  messages
    .flatMap(({ content }) => content)
    .flatMap((block) => (isToolResult(block) ? resultBlocks(block) : [block]))
    .filter(isMedia).length

/** The last resort, for a round of very many calls: one text, of which the beginning and the end stay. */
function asOneText(messages: readonly FlatMessage[], { budget, estimator }: Room): readonly FlatMessage[] {
  const whole = messages.map(({ role, content }) => `${role}: ${content.map(textOfBlock).join("\n")}`).join("\n\n")
  const wrap = (text: string): readonly FlatMessage[] => [
    { role: "user", content: [{ type: "text", text: `<shortened-messages>\n${text}\n</shortened-messages>` }] },
  ]
  return wrap(textWithin(whole, budget, (text) => sizeOf(wrap(text), estimator)))
}

function textOfBlock(block: Block): string {
  if (isText(block)) return block.text
  if (isToolUse(block)) return `${block.name} ${JSON.stringify(block.input)}`
  return isToolResult(block) ? `result: ${textOf(resultBlocks(block))}` : `[${block.type}]`
}

/** As much of a text as fits, without its middle. */
function textWithin(text: string, budget: number, size: (text: string) => number): string {
  let kept = text
  for (let now = size(kept); now > budget; now = size(kept)) {
    const shorter = cutMiddle(text, Math.floor(kept.length * Math.min(0.9, (0.9 * budget) / now)))
    if (shorter.length >= kept.length) return kept // cutting further would leave nothing
    kept = shorter
  }
  return kept
}

/** Neighbouring parts that can be joined by one call: all, or as many as fit, and at least two. */
export function groupsOf(sizes: readonly number[], budget: number): readonly (readonly number[])[] {
  const groups: number[][] = []
  let filled = 0
  sizes.forEach((size, index) => {
    const group = groups.at(-1)
    if (group && (group.length < 2 || filled + size <= budget)) {
      group.push(index)
      filled += size
    } else {
      groups.push([index])
      filled = size
    }
  })
  return groups
}
