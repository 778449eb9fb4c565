/** Replays a part of the recordings with every policy. */
import { isMainThread, parentPort, workerData } from "node:worker_threads"
import { replay } from "@strata/core/internal"
import { ALL_POLICIES } from "@strata/core/internal/replay/policies/all"
import type { ScoredReplay } from "@strata/core/internal/replay/scorecard"
import { type RecordedConversation, recordedConversations } from "../recordings.ts"
import { generatedWork } from "./generated-work.ts"

export interface Job {
  /** Without one, work is generated. */
  readonly folder: string | undefined
  readonly policies: readonly string[]
  readonly part: number
  readonly of: number
  readonly most: number | undefined
}

export interface Replayed extends ScoredReplay {
  readonly name: string
  /** Whether sending everything would exceed the window. */
  readonly exceedsWindow: boolean
}

const LEAST_REQUESTS = 5

export async function replayPart({ folder, policies, part, of, most }: Job): Promise<readonly Replayed[]> {
  const recordings = (folder === undefined ? await generatedWork() : recordedConversations(folder)).slice(0, most)
  const replayed: Replayed[] = []
  for (const recording of recordings.filter((_, at) => at % of === part)) {
    const one = await replayedWith(recording, policies)
    if (one) replayed.push(one)
  }
  return replayed
}

async function replayedWith(
  { name, messages, model }: RecordedConversation,
  policies: readonly string[],
): Promise<Replayed | undefined> {
  const chosen = ALL_POLICIES.filter((policy) => policies.includes(policy.name))
  const processingMs: Record<string, number> = {}
  const timed = chosen.map((policy) => ({
    ...policy,
    async run(...given: Parameters<typeof policy.run>) {
      const began = performance.now()
      const run = await policy.run(...given)
      processingMs[policy.name] = performance.now() - began
      return run
    },
  }))
  const found = await replay({ entries: messages, model }, { policies: timed })
  const everything = found.reports.find(({ policy }) => policy === "none")
  const isPriced = found.reports.every(({ totals }) => totals.dollars !== undefined)
  if (found.sizes === "estimated" || !isPriced || (everything?.requests.length ?? 0) < LEAST_REQUESTS) return undefined
  // what is drawn turn by turn is large and stays here
  const reports = found.reports.map((report) => ({ ...report, requests: [], actions: [], losses: [] }))
  return { name, replay: { ...found, reports }, processingMs, exceedsWindow: (everything?.totals.invalid ?? 0) > 0 }
}

if (!isMainThread) parentPort?.postMessage(await replayPart(workerData as Job))
