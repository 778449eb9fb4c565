/**
 * What an answer uses and the view no longer has, and what it costs to get it back: a call for every block that has it, and the block
 * itself as the result. It stays in view like any other result until the policy removes it again. A result that was put aside is read
 * from its file, where a policy says so.
 */

import type { Block, Entry, Ids, Usage } from "@strata/core"
import { isText, isToolResult, isToolUse } from "@strata/core/messages"
import { PassageIndex, passagesOf } from "@strata/core/recall"
import { wordsOf } from "../inspect/block-words.ts"
import { InView } from "./in-view.ts"
import type { MeasuredRecording } from "./measured-recording.ts"
import { type Needs, needsOf } from "./needs.ts"
import type { UsedAgain } from "./report.ts"
import type { SentMessage } from "./server-copy.ts"

// Whether one search in the journal's index finds a name that left the view. The question is the words beside it, never the name itself.

const FIRST_RESULTS = 5
const QUERY_WORDS = 12
const SOURCE = "replay"
const NEVER = new Date(0) // what is asked names no time

export class OneSearch {
  #index: PassageIndex | undefined
  readonly #waiting = new Set<Block>()
  readonly #known = new Set<Block>()

  /** What has been in view is in the journal. It is indexed with the first search. */
  seen(blocks: readonly Block[]): void {
    for (const block of blocks) if (!this.#known.has(block)) this.#waiting.add(block)
  }

  finds(name: string, source: Block): boolean {
    const text = questionFor(name, wordsOf(source))
    if (text === "") return false
    const { found } = this.#upToDate().search({ text, now: NEVER, limit: FIRST_RESULTS })
    return found.some((block) => block.text.includes(name))
  }

  close(): void {
    this.#index?.close()
  }

  #upToDate(): PassageIndex {
    const index = this.#index ?? new PassageIndex(":memory:")
    this.#index = index
    if (this.#waiting.size === 0) return index
    const before = this.#known.size
    const passages = [...this.#waiting].flatMap((block, at) => {
      const place = { uuid: String(before + at), blocks: [], kind: kindOf(block), time: "1970-01-01T00:00:00.000Z" }
      return passagesOf(
        { ...place, text: wordsOf(block), isSearchable: true, isSaid: kindOf(block) === "assistant" },
        (text) => text,
      )
    })
    for (const block of this.#waiting) this.#known.add(block)
    this.#waiting.clear()
    index.extend({
      source: SOURCE,
      passages,
      from: before === 0 ? undefined : String(before),
      to: String(this.#known.size),
    })
    return index
  }
}

const kindOf = (block: Block): "result" | "call" | "assistant" =>
  isToolResult(block) ? "result" : isToolUse(block) ? "call" : "assistant"

/** The words of the line that has the name, nearest first. */
function questionFor(name: string, text: string): string {
  const line = text.split("\n").find((each) => each.includes(name)) ?? ""
  const at = line.indexOf(name)
  const words = (part: string) => part.match(/[\p{L}\p{N}_]{3,}/gu) ?? []
  const [before, after] = [words(line.slice(0, at)).slice(-QUERY_WORDS / 2), words(line.slice(at + name.length))]
  return [...before, ...after].slice(0, QUERY_WORDS).join(" ")
}

const MAX_FETCH = 24_000 // characters, about 6,000 tokens: of longer blocks the part around what is needed
const RECALL = "Recall"
const READ = "Read"

/** A block that is needed, and what it is needed for. */
export interface Missing {
  readonly block: Block
  readonly wanted: string[]
}

export interface FetchedAt {
  readonly ids: Ids
  readonly at: Date
  readonly model: string
  /** Of the request that fetches. */
  readonly usage: Usage
}

interface FetchingOptions {
  /** Whether what left the view can be searched for. */
  readonly recalls: boolean
  /** Texts that do not count as in view. */
  readonly isForgotten?: (text: string) => boolean
  /** Results that are in a file. The whole file is read. Default: none. */
  readonly isInFile?: (toolUseId: string) => boolean
}

export class Fetching {
  readonly #needs: readonly Needs[]
  readonly #view = new InView()
  readonly #recording: MeasuredRecording
  readonly #search: OneSearch | undefined
  #found = 0
  #names = 0
  #inView = 0
  #fetched = 0
  #fetchedTokens = 0
  #readAgain = 0

  readonly #isForgotten: (text: string) => boolean
  readonly #isInFile: (toolUseId: string) => boolean

  constructor(
    recording: MeasuredRecording,
    { recalls, isForgotten = () => false, isInFile = () => false }: FetchingOptions,
  ) {
    this.#isForgotten = isForgotten
    this.#isInFile = isInFile
    this.#search = recalls ? new OneSearch() : undefined
    this.#recording = recording
    this.#needs = needsOf(recording)
  }

  get usedAgain(): UsedAgain {
    return {
      names: this.#names,
      inView: this.#inView,
      fetched: this.#fetched,
      fetchedTokens: this.#fetchedTokens,
      readAgain: this.#readAgain,
      ...(this.#search ? { found: this.#found } : {}),
    }
  }

  close(): void {
    this.#search?.close()
  }

  /** The blocks that the answer to this request needs and that the messages do not show. */
  missing(request: number, messages: readonly SentMessage[]): readonly Missing[] {
    const blocks = messages.flatMap(({ items }) =>
      items.flatMap(({ block, isCleared }) =>
        block && !isCleared && !(isText(block) && this.#isForgotten(block.text)) ? block : [],
      ),
    )
    this.#view.update(blocks)
    const { names, edited } = this.#needs[request]!
    const missing = new Map<Block, Missing>()
    const want = (block: Block, wanted: string) => {
      const known = missing.get(block) ?? { block, wanted: [] }
      known.wanted.push(wanted)
      missing.set(block, known)
    }
    this.#search?.seen(blocks)
    for (const [name, block] of names) {
      if (this.#view.hasName(name)) continue
      want(block, name)
      if (this.#search?.finds(name, block)) this.#found++
    }
    this.#names += names.size
    this.#inView += names.size - [...missing.values()].reduce((sum, { wanted }) => sum + wanted.length, 0)
    for (const { block, line } of edited)
      if (!this.#view.hasBlock(block) && !blocks.some((each) => wordsOf(each).includes(line))) want(block, line)
    return [...missing.values()]
  }

  /** The call and its results, as entries. */
  fetched(missing: readonly Missing[], { ids, at, model, usage }: FetchedAt): readonly Entry[] {
    const calls = missing.map((each) => {
      const isRead = isToolResult(each.block) && this.#isInFile(each.block.tool_use_id)
      const how = isRead ? { name: READ, text: wordsOf(each.block) } : { name: RECALL, text: partOf(each) }
      return { id: `replay-${ids.uuid()}`, ...how }
    })
    const common = { timestamp: at.toISOString(), parentUuid: null }
    const results = calls.map(({ id, text }) => ({ type: "tool_result" as const, tool_use_id: id, content: text }))
    this.#fetched += calls.length
    this.#readAgain += calls.filter(({ name }) => name === READ).length
    for (const result of results) this.#fetchedTokens += Math.round(this.#recording.sizes.estimate(result))
    return [
      {
        ...common,
        type: "assistant",
        uuid: ids.uuid(),
        message: {
          role: "assistant",
          id: `replay-${ids.uuid()}`,
          model,
          content: calls.map(({ id, name }) => ({ type: "tool_use" as const, id, name, input: {} })),
          usage,
        },
      },
      { ...common, type: "user", uuid: ids.uuid(), message: { role: "user", content: results } },
    ] as Entry[]
  }
}

/** The whole block, or where it is long the part around the first thing it is needed for. */
function partOf({ block, wanted }: Missing): string {
  const text = wordsOf(block)
  if (text.length <= MAX_FETCH) return text
  const first = Math.min(...wanted.map((each) => text.indexOf(each)).filter((at) => at >= 0))
  const from = Math.max(0, Math.min(first - MAX_FETCH / 2, text.length - MAX_FETCH))
  return [text.slice(from, from + MAX_FETCH), ...wanted].join("\n")
}
