/**
 * Derives the tokens of each block of a recorded request. Recordings have only the API's counts for whole requests. From one request to the
 * next, the input grows by the answer and what was sent since, so the size of every prefix that ends where a request ended is known
 * exactly. Within such a step, the answer has its recorded output tokens, and estimates divide the rest.
 *
 * Three items are not blocks of the recording:
 * - `system`: system prompt and tools, in one or two parts, one for each breakpoint. Breakpoints are assumed where the first
 *   request's read ended (other conversations had cached that much) and where most other reads shorter than the first request
 *   ended. Without such reads, the breakpoint is after what the estimates leave over.
 * - `unrecorded`: the beginning of a context that the recording lacks (instructions, reminders, the rest of the system prompt).
 * - `tail`: a few tokens that the API adds after the last block. They are never cached and count as uncached input.
 */
import { inputOf, type RecordedBlock, type RecordedRequest } from "./recorded-requests.ts"

/** With more uncached input than this, the last breakpoint was before the last block. Recorded tails are 0 to 13. */
export const LARGEST_TAIL = 16

export interface ShapedItem {
  readonly id: string
  readonly tokens: number
  readonly block?: RecordedBlock
}

export interface ShapedRequest {
  readonly request: RecordedRequest
  /** System prompt, unrecorded content and blocks. They add up to the input without the tail. */
  readonly items: readonly ShapedItem[]
  readonly tail: number
  /** Whether the context is smaller than its known content, so something was removed that the recording still has. */
  readonly shrank: boolean
}

export const isSystem = ({ id }: ShapedItem) => id.startsWith("system:")

/** Positions of the breakpoints on system prompt and tools, in tokens from the start. */
export function systemEnds({ items }: ShapedRequest): number[] {
  let end = 0
  return items.filter(isSystem).map(({ tokens }) => {
    end += tokens
    return end
  })
}

export const tailOf = ({ usage }: RecordedRequest) => (usage.uncached <= LARGEST_TAIL ? usage.uncached : 0)

/** Derives the token sizes of all requests. `strip` lists the blocks of a request that the server leaves out. */
export function shapeRequests(
  requests: readonly RecordedRequest[],
  strip: (request: RecordedRequest) => readonly RecordedBlock[],
): ShapedRequest[] {
  const [first] = requests
  if (!first) return []
  const shares = new Shares(systemBreakpoints(requests, first))
  return requests.map((request) => shares.shape(request, strip(request)))
}

/** Finds the breakpoints on system prompt and tools, in tokens from the start. */
function systemBreakpoints(requests: readonly RecordedRequest[], first: RecordedRequest): number[] {
  const total = inputOf(first.usage) - tailOf(first)
  const reads = requests.map(({ usage }) => usage.read).filter((read) => read > 0 && read < total)
  const byFrequency = [...Map.groupBy(reads, (read) => read)].sort(([, a], [, b]) => b.length - a.length)
  const places = new Set([first.usage.read, ...byFrequency.map(([read]) => read)].filter((index) => index > 0))
  const breakpoints = [...places].slice(0, SYSTEM_BREAKPOINTS).sort((a, b) => a - b)
  return breakpoints.length > 0 ? breakpoints : [Math.max(0, total - Math.round(sumOf(first.blocks.map(estimateOf))))]
}

const SYSTEM_BREAKPOINTS = 2

/**
 * Share below which output is unfinished: old Claude Code versions recorded the usage at the start of a response, with only a few output
 * tokens.
 */
const UNFINISHED_SHARE = 0.6

class Shares {
  readonly #breakpoints: readonly number[]
  readonly #tokens = new Map<string, number>()
  #before: { readonly blocks: readonly RecordedBlock[]; readonly output: number } = { blocks: [], output: 0 }

  constructor(breakpoints: readonly number[]) {
    this.#breakpoints = breakpoints
  }

  shape(request: RecordedRequest, blocks: readonly RecordedBlock[]): ShapedRequest {
    const { usage, circumstances } = request
    const tail = tailOf(request)
    const all = inputOf(usage) - tail
    const ends = this.#breakpoints.map((mark) => Math.min(mark, all))
    const system = ends.map((end, index) => ({ id: `system:${index}`, tokens: end - (ends[index - 1] ?? 0) }))
    const room = all - (ends.at(-1) ?? 0)
    const unrecorded = `unrecorded:${circumstances.context}`
    this.#forgetBehindAnEdit(blocks)
    const ids = [unrecorded, ...blocks.map(({ id }) => id)]
    const known = sumOf(ids.map((id) => this.#tokens.get(id) ?? 0))
    const added = blocks.filter(({ id }) => !this.#tokens.has(id))
    if (known > room) this.#shrink(ids, room)
    else if (this.#tokens.has(unrecorded)) this.#grow(added, room - known)
    else this.#open(added, { unrecorded, room: room - known })
    this.#before = { blocks, output: usage.output }
    const items = ids.map((id, index) => ({
      id,
      tokens: this.#tokens.get(id) ?? 0,
      ...(index > 0 && { block: blocks[index - 1] as RecordedBlock }),
    }))
    return { request, items: [...system, ...items], tail, shrank: known > room }
  }

  /** Forgets the sizes after stripped blocks: only their sum is known then, so it is divided again. */
  #forgetBehindAnEdit(blocks: readonly RecordedBlock[]): void {
    const changed = this.#before.blocks.findIndex(({ id }, index) => blocks[index]?.id !== id)
    if (changed < 0) return
    for (const { id } of blocks.slice(changed)) this.#tokens.delete(id)
  }

  /** Divides the growth of one step among the answer and the blocks sent since. */
  #grow(added: readonly RecordedBlock[], room: number): void {
    const { true: answer = [], false: sent = [] } = Object.groupBy(added, ({ role }) => String(role === "assistant"))
    const { output } = this.#before
    const isKnown = output > UNFINISHED_SHARE * sumOf(answer.map(estimateOf)) && output <= room && sent.length > 0
    if (!isKnown || answer.length === 0) {
      this.#assign(added, room)
    } else {
      this.#assign(answer, output)
      this.#assign(sent, room - output)
    }
  }

  /** Starts a context. Input that the estimates do not cover is unrecorded content. */
  #open(added: readonly RecordedBlock[], { unrecorded, room }: { unrecorded: string; room: number }): void {
    const spoken = Math.min(room, Math.round(sumOf(added.map(estimateOf))))
    this.#assign(added, spoken)
    this.#tokens.set(unrecorded, room - spoken)
  }

  /** Shrinks all blocks in proportion, because it is unknown what was removed. New blocks get no tokens. */
  #shrink(ids: readonly string[], room: number): void {
    const shares = spread(
      room,
      ids.map((id) => this.#tokens.get(id) ?? 0),
    )
    ids.forEach((id, index) => {
      this.#tokens.set(id, shares[index] ?? 0)
    })
  }

  #assign(blocks: readonly RecordedBlock[], tokens: number): void {
    const shares = spread(tokens, blocks.map(estimateOf))
    blocks.forEach(({ id }, index) => {
      this.#tokens.set(id, shares[index] ?? 0)
    })
  }
}

const estimateOf = ({ estimate }: RecordedBlock) => estimate

/** Integers that add up to `total`, in proportion to the weights. */
export function spread(total: number, weights: readonly number[]): number[] {
  const all = sumOf(weights)
  let weight = 0
  let given = 0
  return weights.map((each, index) => {
    weight += each
    const until = index === weights.length - 1 ? total : Math.round(all > 0 ? (total * weight) / all : 0)
    const share = until - given
    given = until
    return share
  })
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0)
