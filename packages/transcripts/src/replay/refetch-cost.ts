/**
 * Finds what a response uses that the view no longer contains, and the cost of fetching it again: one call for each block, with the block
 * as the result. The result stays in view like any other until the policy removes it. An offloaded result is read from its file if the
 * policy says so.
 */

import type { Block, Entry, Ids, Usage } from "@strata/core"
import { isText, isToolResult, isToolUse } from "@strata/core/messages"
import { PassageIndex, splitBlock } from "@strata/core/recall"
import { blockText } from "../inspect/block-text.ts"
import { InView } from "./in-view.ts"
import type { MeasuredRecording } from "./measured-recording.ts"
import type { UsedAgain } from "./report.ts"
import { type RequiredContext, requiredContexts } from "./required-context.ts"
import type { SentMessage } from "./server-context.ts"

// Tests whether one search in the journal's index finds a name that left the view. The query consists of the words near the name, never of
// the name itself.

const FIRST_RESULTS = 5
const QUERY_WORDS = 12
const SOURCE = "replay"
const NEVER = new Date(0) // the queries contain no dates

export class SearchRecall {
  #index: PassageIndex | undefined
  readonly #waiting = new Set<Block>()
  readonly #known = new Set<Block>()

  /** Adds blocks that were in view, which are in the journal. They are indexed with the next search. */
  seen(blocks: readonly Block[]): void {
    for (const block of blocks) if (!this.#known.has(block)) this.#waiting.add(block)
  }

  finds(name: string, source: Block): boolean {
    const text = queryFor(name, blockText(source))
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
      return splitBlock(
        { ...place, text: blockText(block), isSearchable: true, isDialogue: kindOf(block) === "assistant" },
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

/** Words from the line that contains the name, nearest first. */
function queryFor(name: string, text: string): string {
  const line = text.split("\n").find((each) => each.includes(name)) ?? ""
  const at = line.indexOf(name)
  const words = (part: string) => part.match(/[\p{L}\p{N}_]{3,}/gu) ?? []
  const [before, after] = [words(line.slice(0, at)).slice(-QUERY_WORDS / 2), words(line.slice(at + name.length))]
  return [...before, ...after].slice(0, QUERY_WORDS).join(" ")
}

const MAX_FETCH = 24_000 // characters, about 6,000 tokens; of longer blocks, the part around the text that is needed
const RECALL = "Recall"
const READ = "Read"

/** A block that is needed but not in view, and the texts it is needed for. */
export interface MissingBlock {
  readonly block: Block
  readonly texts: string[]
}

export interface FetchRequest {
  readonly ids: Ids
  readonly at: Date
  readonly model: string
  /** Usage of the request that fetches. */
  readonly usage: Usage
}

interface RefetcherOptions {
  /** Whether content that left the view can be searched. */
  readonly recalls: boolean
  /** Whether a text does not count as in view. */
  readonly isForgotten?: (text: string) => boolean
  /** Whether a result was offloaded to a file, which is read completely. Default: never. */
  readonly isInFile?: (toolUseId: string) => boolean
}

export class Refetcher {
  readonly #needs: readonly RequiredContext[]
  readonly #view = new InView()
  readonly #recording: MeasuredRecording
  readonly #search: SearchRecall | undefined
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
    { recalls, isForgotten = () => false, isInFile = () => false }: RefetcherOptions,
  ) {
    this.#isForgotten = isForgotten
    this.#isInFile = isInFile
    this.#search = recalls ? new SearchRecall() : undefined
    this.#recording = recording
    this.#needs = requiredContexts(recording)
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

  /** The blocks that the response to this request needs and the messages do not contain. */
  findMissing(request: number, messages: readonly SentMessage[]): readonly MissingBlock[] {
    const blocks = messages.flatMap(({ items }) =>
      items.flatMap(({ block, isCleared }) =>
        block && !isCleared && !(isText(block) && this.#isForgotten(block.text)) ? block : [],
      ),
    )
    this.#view.update(blocks)
    const { names, edited } = this.#needs[request]!
    const missing = new Map<Block, MissingBlock>()
    const want = (block: Block, wanted: string) => {
      const known = missing.get(block) ?? { block, texts: [] }
      known.texts.push(wanted)
      missing.set(block, known)
    }
    this.#search?.seen(blocks)
    for (const [name, block] of names) {
      if (this.#view.hasName(name)) continue
      want(block, name)
      if (this.#search?.finds(name, block)) this.#found++
    }
    this.#names += names.size
    this.#inView += names.size - [...missing.values()].reduce((sum, { texts }) => sum + texts.length, 0)
    for (const { block, line } of edited)
      if (!this.#view.hasBlock(block) && !blocks.some((each) => blockText(each).includes(line))) want(block, line)
    return [...missing.values()]
  }

  /** The calls that fetch the blocks and their results, as entries. */
  fetchEntries(missing: readonly MissingBlock[], { ids, at, model, usage }: FetchRequest): readonly Entry[] {
    const calls = missing.map((each) => {
      const isRead = isToolResult(each.block) && this.#isInFile(each.block.tool_use_id)
      const how = isRead ? { name: READ, text: blockText(each.block) } : { name: RECALL, text: fetchedText(each) }
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

/** The complete block or, if it is long, the part around the first text it is needed for. */
function fetchedText({ block, texts }: MissingBlock): string {
  const text = blockText(block)
  if (text.length <= MAX_FETCH) return text
  const first = Math.min(...texts.map((each) => text.indexOf(each)).filter((at) => at >= 0))
  const from = Math.max(0, Math.min(first - MAX_FETCH / 2, text.length - MAX_FETCH))
  return [text.slice(from, from + MAX_FETCH), ...texts].join("\n")
}
