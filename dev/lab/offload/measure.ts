/** Recordings through the proxy with several sizes, and the rows of a table: one for each. */
import type { Message } from "@strata/core"
import { type Policy, replay } from "@strata/transcripts/replay"
import { FILE_READERS } from "../../../packages/adapters/src/clients/client-tools.ts"
import { charactersOf } from "../../../packages/core/src/layers/1-tool-results/tool-result-storage.ts"
import { isToolResult, isToolUse } from "../../../packages/core/src/messages/blocks.ts"
import { contentOf } from "../../../packages/core/src/messages/messages.ts"
import { ratioRange } from "../lab/range.ts"
import type { ReplayResult } from "../lab/worker.ts"
import type { RecordedConversation } from "../recordings.ts"
import { behindAClient, DIRECT, nameOf, type Sizes } from "./policy.ts"

const MIN_REQUESTS = 5

/** `undefined`: the recording lacks counts, a price or enough requests, so nothing can be said about its cost. */
export async function measured(
  { name, messages, model }: RecordedConversation,
  sizes: readonly Sizes[],
): Promise<ReplayResult | undefined> {
  const policies = [DIRECT, ...eachOnce(sizes, resultSizes(messages))]
  const found = await replay({ entries: messages, model }, { policies })
  const [direct] = found.reports
  if (direct!.requests.length < MIN_REQUESTS || found.sizes === "estimated") return undefined
  if (found.reports.some(({ totals }) => totals.dollars === undefined)) return undefined
  const reports = found.reports.map((report) => ({ ...report, requests: [], actions: [], losses: [] }))
  return { name, replay: { ...found, reports }, processingMs: {}, exceedsWindow: direct!.totals.invalid > 0 }
}

/** Sizes without a result between them put the same aside, so they are replayed once. */
function eachOnce(sizes: readonly Sizes[], results: readonly number[]): readonly Policy[] {
  const runs = new Map<string, ReturnType<Policy["run"]>>()
  return sizes.map((each) => {
    const policy = behindAClient(each)
    const over = results.filter((characters) => characters > each.limit).length
    const key = over === 0 ? "none" : `${over} ${each.preview}`
    return {
      ...policy,
      run: (recording, options) => {
        const run = runs.get(key) ?? policy.run(recording, options)
        runs.set(key, run)
        return run
      },
    }
  })
}

/** In characters, of results that may be put aside. */
export function resultSizes(messages: readonly Message[]): readonly number[] {
  const blocks = messages.flatMap((message) =>
    message.type === "user" || message.type === "assistant" ? contentOf(message) : [],
  )
  const readers = new Set(
    blocks.flatMap((block) => (isToolUse(block) && FILE_READERS.includes(block.name) ? block.id : [])),
  )
  return blocks.flatMap((block) => (isToolResult(block) && !readers.has(block.tool_use_id) ? charactersOf(block) : []))
}

export interface OffloadRow extends Sizes {
  /** Divided by what the client alone cost. 95% of the samples of the recordings are between `least` and `most`. */
  readonly cost: number
  readonly min: number
  readonly max: number
  /** Of this, requests that fetched what was not in view. */
  readonly fetching: number
  readonly fetched: number
  readonly putAside: number
  readonly readAgain: number
  /** Of the names that answers used again. */
  readonly inView: number
  readonly names: number
}

export function rowOf(sizes: Sizes, all: readonly ReplayResult[]): OffloadRow {
  const of = (name: string) => all.map(({ replay }) => replay.reports.find(({ policy }) => policy === name)!)
  const ours = of(nameOf(sizes))
  const direct = sum(of(DIRECT.name).map(({ totals }) => totals.dollars!))
  const { value: cost, min, max } = ratioRange(all, [nameOf(sizes), DIRECT.name])
  const names = sum(ours.map(({ usedAgain }) => usedAgain.names))
  return {
    ...sizes,
    ...{ cost, min, max, names },
    fetching: sum(ours.map(({ totals }) => totals.byPurpose.recall)) / direct,
    fetched: sum(ours.map(({ usedAgain }) => usedAgain.fetched)),
    putAside: sum(ours.map(({ totals }) => totals.acts["put aside"])),
    readAgain: sum(ours.map(({ usedAgain }) => usedAgain.readAgain)),
    inView: names === 0 ? 1 : sum(ours.map(({ usedAgain }) => usedAgain.inView)) / names,
  }
}

/**
 * Of the results that this size puts aside and the next larger one does not, and that no answer was seen to need: how many a model may
 * read again at once before they cost more than they save. `undefined`: no such result.
 */
export function breakEven(row: OffloadRow, rows: readonly OffloadRow[]): number | undefined {
  const larger = rows
    .filter(({ limit, preview }) => preview === row.preview && limit > row.limit)
    .toSorted((a, b) => a.limit - b.limit)[0]
  const results = larger ? row.putAside - larger.putAside - (row.readAgain - larger.readAgain) : 0
  if (!larger || results <= 0 || row.fetched === 0) return undefined
  const saved = (larger.cost - row.cost) / results
  return saved <= 0 ? 0 : saved / (saved + row.fetching / row.fetched)
}

const MAX_LOST = 0.01 // of what is used again: the most that a smaller size may take out of view

/** The cheapest of those that lose little more than the largest size. */
export function chosen(rows: readonly OffloadRow[]): OffloadRow | undefined {
  const widest = rows.toSorted((a, b) => b.limit - a.limit || b.preview - a.preview)[0]
  return rows
    .filter(({ inView }) => inView >= (widest?.inView ?? 0) - MAX_LOST)
    .toSorted((a, b) => a.cost - b.cost || b.limit - a.limit)[0]
}

const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)
