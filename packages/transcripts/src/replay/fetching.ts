/**
 * What an answer uses and the view no longer has, and what it costs to get it back: a call for every block that has it, and the block
 * itself as the result. It stays in view like any other result until the policy removes it again. A result that was put aside is read
 * from its file, where a policy says so.
 */
import type { Block, Entry, Ids, Usage } from "@strata/core"
import { isText, isToolResult } from "@strata/core/messages"
import { wordsOf } from "../inspect/block-words.ts"
import { InView } from "./in-view.ts"
import type { MeasuredRecording } from "./measured-recording.ts"
import { type Needs, needsOf } from "./needs.ts"
import { OneSearch } from "./one-search.ts"
import type { UsedAgain } from "./report.ts"
import type { SentMessage } from "./server-copy.ts"

const LONGEST_FETCH = 24_000 // characters, about 6,000 tokens: of longer blocks the part around what is needed
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
  if (text.length <= LONGEST_FETCH) return text
  const first = Math.min(...wanted.map((each) => text.indexOf(each)).filter((at) => at >= 0))
  const from = Math.max(0, Math.min(first - LONGEST_FETCH / 2, text.length - LONGEST_FETCH))
  return [text.slice(from, from + LONGEST_FETCH), ...wanted].join("\n")
}
