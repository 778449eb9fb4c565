/** Replays a part of the recordings with the policies asked for. */

import { isMainThread, parentPort, workerData } from "node:worker_threads"
import { type ScoredReplay, timedReplay } from "@strata/transcripts/replay"
import { none } from "../../../packages/transcripts/src/replay/policies/none.ts"
import { workerConversation } from "../../bench/lab/worker-conversation.ts"
import { type RecordedConversation, recordedConversations } from "../recordings.ts"
import { LAB_POLICIES } from "./variants.ts"

// Conversations for machines without recordings: the simulator's worker, with short and long pauses.

/** The format of conversations that no program recorded. */
export const GENERATED = "generated"

const MODEL = "claude-opus-4-6"
const WORK = [
  { tokens: 120_000, pauseMinutes: 1 },
  { tokens: 300_000, pauseMinutes: 8 },
  { tokens: 300_000, pauseMinutes: 90 },
]

export async function generatedWork(): Promise<readonly RecordedConversation[]> {
  const conversations: RecordedConversation[] = []
  for (const work of WORK) {
    const messages = await workerConversation({ model: MODEL, ...work })
    const name = `${work.tokens / 1_000}K tokens, pauses of ${work.pauseMinutes} min`
    conversations.push({ name, format: GENERATED, messages, model: MODEL })
  }
  return conversations
}

export interface Job {
  /** Without one, work is generated. */
  readonly folder: string | undefined
  readonly policies: readonly string[]
  readonly part: number
  readonly of: number
  /** Recordings of the folder at most. Default: all. */
  readonly max?: number
}

export interface ReplayResult extends ScoredReplay {
  readonly name: string
  /** Whether sending everything would exceed the window. */
  readonly exceedsWindow: boolean
}

export interface LeftOut {
  readonly name: string
  readonly why: "no token counts" | "a price is unknown" | "fewer than 5 requests"
}

export interface ReplayPart {
  readonly replayed: readonly ReplayResult[]
  readonly leftOut: readonly LeftOut[]
}

const MIN_REQUESTS = 5

export async function replayPart({ folder, policies, part, of, max }: Job): Promise<ReplayPart> {
  const recordings = folder === undefined ? await generatedWork() : recordedConversations(folder)
  const found: (ReplayResult | LeftOut)[] = []
  for (const recording of recordings.slice(0, max).filter((_, at) => at % of === part))
    found.push(await replayedWith(recording, policies))
  return {
    replayed: found.filter((one) => "replay" in one),
    leftOut: found.filter((one) => "why" in one),
  }
}

/** `none` runs in any case: all others are compared with it. Sizes of generated work are estimates by nature. */
export async function replayedWith(
  { name, format, messages, model }: RecordedConversation,
  asked: readonly string[],
): Promise<ReplayResult | LeftOut> {
  const policies = LAB_POLICIES.filter((policy) => policy === none || asked.includes(policy.name))
  const { replay: found, processingMs } = await timedReplay({ entries: messages, model }, { policies })
  const everything = found.reports.find(({ policy }) => policy === none.name)!
  if (everything.requests.length < MIN_REQUESTS) return { name, why: "fewer than 5 requests" }
  if (found.sizes === "estimated" && format !== GENERATED) return { name, why: "no token counts" }
  if (found.reports.some(({ totals }) => totals.dollars === undefined)) return { name, why: "a price is unknown" }
  // what is drawn turn by turn is large and stays here
  const reports = found.reports.map((report) => ({ ...report, requests: [], actions: [], losses: [] }))
  return { name, replay: { ...found, reports }, processingMs, exceedsWindow: everything.totals.invalid > 0 }
}

if (!isMainThread) parentPort?.postMessage(await replayPart(workerData as Job))
