/** Whether one search in the journal's index finds a name that left the view. The question is the words beside it, never the name itself. */
import type { Block } from "@strata/core"
import { isToolResult, isToolUse } from "@strata/core/messages"
import { PassageIndex, passagesOf } from "@strata/core/recall"
import { wordsOf } from "../inspect/block-words.ts"

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
