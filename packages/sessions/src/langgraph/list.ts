/** Checkpoints of a thread or of all threads, the largest id first. A segment is read when it can have the next one. */
import type { RunnableConfig } from "@langchain/core/runnables"
import type { CheckpointListOptions, CheckpointTuple } from "@langchain/langgraph-checkpoint"
import { copyOf, type MapNode, Piece } from "./nodes.ts"
import type { Segment } from "./segment.ts"
import type { Serialised } from "./serialised.ts"
import type { Thread } from "./thread.ts"
import type { Threads } from "./threads.ts"
import { tupleIn } from "./tuple.ts"

interface Listing {
  readonly threads: Threads
  readonly serialised: Serialised
  readonly config: RunnableConfig
  readonly options: CheckpointListOptions
}

export async function* listed({ threads, serialised, config, options }: Listing): AsyncGenerator<CheckpointTuple> {
  const { thread_id, checkpoint_ns, checkpoint_id } = (config.configurable ?? {}) as Readonly<Record<string, unknown>>
  const { before, limit = Number.POSITIVE_INFINITY, filter = {} } = options
  const end: unknown = before?.configurable?.checkpoint_id
  const only = typeof checkpoint_ns === "string" ? checkpoint_ns : undefined
  const isWanted = ({ ns, id }: Address) =>
    (only === undefined || ns === only) &&
    (typeof checkpoint_id !== "string" || checkpoint_id === "" || id === checkpoint_id) &&
    (typeof end !== "string" || id < end)
  let left = limit
  const names = typeof thread_id === "string" && thread_id !== "" ? [thread_id] : await threads.names()
  for (const thread of names) {
    if (left <= 0) return
    const find = (ns: string, id: string) => threads.of(thread).read((reading) => reading.find(ns, id))
    for await (const { segment, ns, id } of foundIn(threads.of(thread), { isWanted, only, filter, serialised })) {
      yield await tupleIn(segment, { thread, ns, id, find, serialised })
      if (--left <= 0) return
    }
  }
}

interface Address {
  readonly ns: string
  readonly id: string
}

interface Wanted {
  readonly isWanted: (address: Address) => boolean
  /** The namespace that is asked for. Absent: all. */
  readonly only: string | undefined
  readonly filter: Readonly<Record<string, unknown>>
  readonly serialised: Serialised
}

interface Found extends Address {
  readonly segment: Segment
}

async function* foundIn(thread: Thread, { isWanted, only, filter, serialised }: Wanted): AsyncGenerator<Found> {
  /** Checkpoints that a later segment has again: that one counts. */
  const later = new Map<string, Segment>()
  /** Not given out yet: where the clocks of two machines differ, an earlier segment has larger ids. */
  let waiting: Found[] = []
  for await (const segment of segmentsOf(thread)) {
    const fits = await fittingIn(segment, filter, serialised)
    const lines = segment.lines().filter((line) => isWanted(line))
    const own = lines.filter(({ again }) => !again)
    for (const { ns, id } of own) {
      const counts = later.get(JSON.stringify([ns, id])) ?? segment
      const isFitting = counts === segment ? fits : await fittingIn(counts, filter, serialised)
      if (isFitting(ns, id)) waiting.push({ ns, id, segment: counts })
    }
    for (const { ns, id, again } of lines)
      if (again && !later.has(JSON.stringify([ns, id]))) later.set(JSON.stringify([ns, id]), segment)
    const end = segment.newestEarlier(only) ?? ""
    const next = waiting.filter(({ id }) => id > end).sort((one, other) => (one.id < other.id ? 1 : -1))
    waiting = waiting.filter(({ id }) => id <= end)
    yield* next
  }
  yield* waiting.sort((one, other) => (one.id < other.id ? 1 : -1)) // of a thread whose beginning was lost
}

/** The segments of a thread, the newest first. The thread can be used in between. */
async function* segmentsOf(thread: Thread): AsyncGenerator<Segment> {
  let segment = await thread.read(async (reading) => reading.segment)
  while (segment) {
    yield segment
    const number: number = segment.number - 1
    segment = number < 0 ? undefined : await thread.read((reading) => reading.earlier(number))
  }
}

/** Which checkpoints of a segment have the metadata that is asked for. */
async function fittingIn(
  segment: Segment,
  filter: Readonly<Record<string, unknown>>,
  serialised: Serialised,
): Promise<(ns: string, id: string) => boolean> {
  const asked = Object.entries(filter)
  if (asked.length === 0) return () => true
  const fitting = new Map<string, boolean>()
  for (const ns of new Set(segment.lines().map((line) => line.ns)))
    for (const { line, state } of [...metadataOf(segment, ns)]) {
      const metadata = state && ((await serialised.unpack(state)) as Readonly<Record<string, unknown>>)
      fitting.set(
        JSON.stringify([ns, line.id]),
        metadata !== undefined && asked.every(([name, value]) => metadata[name] === value),
      )
    }
  return (ns, id) => fitting.get(JSON.stringify([ns, id])) ?? false
}

function* metadataOf(segment: Segment, ns: string) {
  for (const { line, state } of segment.replay(ns)) {
    const metadata = state && !(state instanceof Piece) ? (state as MapNode).fields.get("metadata") : undefined
    yield { line, state: metadata && copyOf(metadata) }
  }
}
