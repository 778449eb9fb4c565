/** What led to the value of a delta channel: the writes along the ancestors of a checkpoint, from the nearest that has a value on. */
import type { CheckpointPendingWrite, DeltaChannelHistory } from "@langchain/langgraph-checkpoint"
import { type Node, Piece } from "./nodes.ts"
import type { Segment } from "./segment.ts"
import type { Serialised } from "./serialised.ts"
import type { Reading } from "./thread.ts"
import { type Wanted, writesIn } from "./tuple.ts"

interface Asked {
  readonly reading: Reading
  readonly wanted: Wanted
  readonly channels: readonly string[]
  readonly serialised: Serialised
}

export async function deltaHistory({
  reading,
  wanted: { ns, id: given },
  channels,
  serialised,
}: Asked): Promise<Record<string, DeltaChannelHistory>> {
  const { segment, find } = reading
  const newestFirst = new Map(channels.map((channel) => [channel, [] as CheckpointPendingWrite[]]))
  const seeds = new Map<string, unknown>()
  const open = new Set(channels)
  const channelsIn = new ChannelsIn(ns)
  const id = given ?? segment.newestOf(ns)
  const first = id === undefined ? undefined : await find(ns, id)
  let at = first && id !== undefined ? first.parentOf(ns, id) : undefined
  while (at !== undefined && open.size > 0) {
    const holder: Segment | undefined = await find(ns, at)
    if (!holder) break
    const writes = await writesIn(holder, { ns, id: at }, serialised)
    for (const channel of open) newestFirst.get(channel)!.push(...ofChannel(writes, channel).toReversed())
    for (const channel of channelsIn.of(holder, at)) {
      if (!open.delete(channel)) continue
      const value = channelOf(holder.stateOf(ns, at), channel)
      if (value) seeds.set(channel, await serialised.unpack(value))
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

/** Tasks in the order of their ids, and the writes of a task as it made them. */
const ofChannel = (writes: readonly CheckpointPendingWrite[], channel: string): readonly CheckpointPendingWrite[] =>
  writes.filter(([, each]) => each === channel).toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))

/** The channels with a value, for each checkpoint of a segment. A segment is gone through once. */
class ChannelsIn {
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
      channels: values && !(values instanceof Piece) && values.kind === "map" ? [...values.fields.keys()] : [],
    }
  }
}

const channelOf = (state: Node | undefined, channel: string): Node | undefined =>
  fieldOf(fieldOf(fieldOf(state, "checkpoint"), "channel_values"), channel)

const fieldOf = (node: Node | undefined, name: string): Node | undefined =>
  node && !(node instanceof Piece) && node.kind === "map" ? node.fields.get(name) : undefined
