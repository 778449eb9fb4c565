/** Reads the history of delta channels: the writes along the ancestors of a checkpoint, back to the nearest one with a value. */
import type { CheckpointPendingWrite, DeltaChannelHistory } from "@langchain/langgraph-checkpoint"
import { Leaf, type Node } from "./nodes.ts"
import type { Segment } from "./segment.ts"
import type { ValueSerializer } from "./serialized.ts"
import type { ThreadReader } from "./thread.ts"
import { type CheckpointRequest, writesIn } from "./tuple.ts"

interface DeltaHistoryInput {
  readonly reading: ThreadReader
  readonly wanted: CheckpointRequest
  readonly channels: readonly string[]
  readonly serializer: ValueSerializer
}

export async function deltaHistory({
  reading,
  wanted: { ns, id: requestedId },
  channels,
  serializer,
}: DeltaHistoryInput): Promise<Record<string, DeltaChannelHistory>> {
  const { segment, find } = reading
  const newestFirst = new Map(channels.map((channel) => [channel, [] as CheckpointPendingWrite[]]))
  const seeds = new Map<string, unknown>()
  const open = new Set(channels)
  const channelsIn = new ChannelIndex(ns)
  const id = requestedId ?? segment.newestOf(ns)
  const first = id === undefined ? undefined : await find(ns, id)
  let at = first && id !== undefined ? first.parentOf(ns, id) : undefined
  while (at !== undefined && open.size > 0) {
    const holder: Segment | undefined = await find(ns, at)
    if (!holder) break
    const writes = await writesIn(holder, { ns, id: at }, serializer)
    for (const channel of open) newestFirst.get(channel)!.push(...ofChannel(writes, channel).toReversed())
    for (const channel of channelsIn.of(holder, at)) {
      if (!open.delete(channel)) continue
      const value = channelOf(holder.stateOf(ns, at), channel)
      if (value) seeds.set(channel, await serializer.unpack(value))
    }
    at = holder.parentOf(ns, at)
  }
  return Object.fromEntries(
    channels.map((channel) => {
      const writes = newestFirst.get(channel)!.toReversed()
      return [channel, seeds.has(channel) ? { writes, seed: seeds.get(channel) } : { writes }]
    }),
  )
}

/** Writes ordered by task id, and the writes of a task in their own order. */
const ofChannel = (writes: readonly CheckpointPendingWrite[], channel: string): readonly CheckpointPendingWrite[] =>
  writes.filter(([, each]) => each === channel).toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))

/** The channels with a value, for each checkpoint of a segment. Each segment is replayed once. */
class ChannelIndex {
  readonly #ns: string
  readonly #known = new Map<Segment, ReadonlyMap<string, readonly string[]>>()

  constructor(ns: string) {
    this.#ns = ns
  }

  of(segment: Segment, id: string): readonly string[] {
    const known = this.#known.get(segment) ?? this.#read(segment)
    this.#known.set(segment, known)
    return known.get(id) ?? []
  }

  #read(segment: Segment): ReadonlyMap<string, readonly string[]> {
    return new Map([...withChannels(segment, this.#ns)].map(({ id, channels }) => [id, channels] as const))
  }
}

function* withChannels(segment: Segment, ns: string) {
  for (const { line, state } of segment.replay(ns)) {
    const values = fieldOf(fieldOf(state, "checkpoint"), "channel_values")
    yield {
      id: line.id,
      channels: values && !(values instanceof Leaf) && values.kind === "map" ? [...values.fields.keys()] : [],
    }
  }
}

const channelOf = (state: Node | undefined, channel: string): Node | undefined =>
  fieldOf(fieldOf(fieldOf(state, "checkpoint"), "channel_values"), channel)

const fieldOf = (node: Node | undefined, name: string): Node | undefined =>
  node && !(node instanceof Leaf) && node.kind === "map" ? node.fields.get(name) : undefined
