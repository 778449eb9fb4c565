/** Lists checkpoints of one thread or all threads, the largest id first. A segment is read only when it can contain the next one. */
import type { RunnableConfig } from "@langchain/core/runnables"
import type { CheckpointListOptions, CheckpointTuple } from "@langchain/langgraph-checkpoint"
import { copyOf, Leaf, type MapNode } from "./nodes.ts"
import type { Segment } from "./segment.ts"
import type { ValueSerializer } from "./serialized.ts"
import type { ThreadJournal } from "./thread.ts"
import type { Threads } from "./threads.ts"
import { tupleIn } from "./tuple.ts"

interface ListInput {
  readonly threads: Threads
  readonly serializer: ValueSerializer
  readonly config: RunnableConfig
  readonly options: CheckpointListOptions
}

export async function* listCheckpoints({
  threads,
  serializer,
  config,
  options,
}: ListInput): AsyncGenerator<CheckpointTuple> {
  const { thread_id, checkpoint_ns, checkpoint_id } = (config.configurable ?? {}) as Readonly<Record<string, unknown>>
  const { before, limit = Number.POSITIVE_INFINITY, filter = {} } = options
  const end: unknown = before?.configurable?.checkpoint_id
  const only = typeof checkpoint_ns === "string" ? checkpoint_ns : undefined
  const matches = ({ ns, id }: CheckpointKey) =>
    (only === undefined || ns === only) &&
    (typeof checkpoint_id !== "string" || checkpoint_id === "" || id === checkpoint_id) &&
    (typeof end !== "string" || id < end)
  let remaining = limit
  const names = typeof thread_id === "string" && thread_id !== "" ? [thread_id] : await threads.names()
  for (const thread of names) {
    if (remaining <= 0) return
    const find = (ns: string, id: string) => threads.of(thread).read((reading) => reading.find(ns, id))
    for await (const { segment, ns, id } of foundIn(threads.of(thread), {
      isWanted: matches,
      only,
      filter,
      serializer,
    })) {
      yield await tupleIn(segment, { thread, ns, id, find, serializer })
      if (--remaining <= 0) return
    }
  }
}

interface CheckpointKey {
  readonly ns: string
  readonly id: string
}

interface ListCriteria {
  readonly isWanted: (address: CheckpointKey) => boolean
  /** The requested namespace. Absent: all. */
  readonly only: string | undefined
  readonly filter: Readonly<Record<string, unknown>>
  readonly serializer: ValueSerializer
}

interface FoundCheckpoint extends CheckpointKey {
  readonly segment: Segment
}

async function* foundIn(
  thread: ThreadJournal,
  { isWanted, only, filter, serializer }: ListCriteria,
): AsyncGenerator<FoundCheckpoint> {
  /** Later segments of checkpoints that were written again, which replace the earlier lines. */
  const newerSegments = new Map<string, Segment>()
  /** Checkpoints not yet returned: if the clocks of two machines differ, an earlier segment may contain larger ids. */
  let waiting: FoundCheckpoint[] = []
  for await (const segment of segmentsOf(thread)) {
    const fits = await createFilter(segment, filter, serializer)
    const lines = segment.lines().filter((line) => isWanted(line))
    const own = lines.filter(({ again }) => !again)
    for (const { ns, id } of own) {
      const counts = newerSegments.get(JSON.stringify([ns, id])) ?? segment
      const isFitting = counts === segment ? fits : await createFilter(counts, filter, serializer)
      if (isFitting(ns, id)) waiting.push({ ns, id, segment: counts })
    }
    for (const { ns, id, again } of lines)
      if (again && !newerSegments.has(JSON.stringify([ns, id]))) newerSegments.set(JSON.stringify([ns, id]), segment)
    const end = segment.newestEarlier(only) ?? ""
    const next = waiting.filter(({ id }) => id > end).sort((one, other) => (one.id < other.id ? 1 : -1))
    waiting = waiting.filter(({ id }) => id <= end)
    yield* next
  }
  yield* waiting.sort((one, other) => (one.id < other.id ? 1 : -1)) // if the beginning of the thread was lost
}

/** Yields the segments of a thread, newest first. Other operations on the thread can run in between. */
async function* segmentsOf(thread: ThreadJournal): AsyncGenerator<Segment> {
  let segment = await thread.read(async (reading) => reading.segment)
  while (segment) {
    yield segment
    const number: number = segment.number - 1
    segment = number < 0 ? undefined : await thread.read((reading) => reading.earlier(number))
  }
}

/** Tests which checkpoints of a segment have the requested metadata. */
async function createFilter(
  segment: Segment,
  filter: Readonly<Record<string, unknown>>,
  serializer: ValueSerializer,
): Promise<(ns: string, id: string) => boolean> {
  const asked = Object.entries(filter)
  if (asked.length === 0) return () => true
  const fitting = new Map<string, boolean>()
  for (const ns of new Set(segment.lines().map((line) => line.ns)))
    for (const { line, state } of [...metadataOf(segment, ns)]) {
      const metadata = state && ((await serializer.unpack(state)) as Readonly<Record<string, unknown>>)
      fitting.set(
        JSON.stringify([ns, line.id]),
        metadata !== undefined && asked.every(([name, value]) => metadata[name] === value),
      )
    }
  return (ns, id) => fitting.get(JSON.stringify([ns, id])) ?? false
}

function* metadataOf(segment: Segment, ns: string) {
  for (const { line, state } of segment.replay(ns)) {
    const metadata = state && !(state instanceof Leaf) ? (state as MapNode).fields.get("metadata") : undefined
    yield { line, state: metadata && copyOf(metadata) }
  }
}
