/** Replays recordings through the proxy with several sizes. Each size is a row of the table. */
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

/** Returns `undefined` if the recording lacks counts, a price or enough requests, so that its cost cannot be computed. */
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

/** Sizes without a result between them offload the same results, so they are replayed once. */
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

/** Sizes in characters of results that may be offloaded. */
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
  /** Cost divided by that of the client alone. 95% of the samples of the recordings are between `min` and `max`. */
  readonly cost: number
  readonly min: number
  readonly max: number
  /** Part of the cost for requests that fetched content missing in the view. */
  readonly fetching: number
  readonly fetched: number
  readonly putAside: number
  readonly readAgain: number
  /** Share in view of the names that answers used again. */
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
 * Considers the results that this size offloads, the next larger one does not, and no recorded answer needed. Returns the share that a
 * model may read again immediately before they cost more than they save. `undefined` without such results.
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

const MAX_LOST = 0.01 // share of the names used again that a smaller size may remove from view

/** The cheapest of the sizes that lose little more than the largest size. */
export function chosen(rows: readonly OffloadRow[]): OffloadRow | undefined {
  const widest = rows.toSorted((a, b) => b.limit - a.limit || b.preview - a.preview)[0]
  return rows
    .filter(({ inView }) => inView >= (widest?.inView ?? 0) - MAX_LOST)
    .toSorted((a, b) => a.cost - b.cost || b.limit - a.limit)[0]
}

const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)
