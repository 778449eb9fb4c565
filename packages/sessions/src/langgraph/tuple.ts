/** Converts checkpoints to LangGraph's tuples. */
import type { RunnableConfig } from "@langchain/core/runnables"
import type {
  Checkpoint,
  CheckpointMetadata,
  CheckpointPendingWrite,
  CheckpointTuple,
} from "@langchain/langgraph-checkpoint"
import { getCheckpointId, maxChannelVersion, TASKS } from "@langchain/langgraph-checkpoint"
import type { Segment } from "./segment.ts"
import type { ValueSerializer } from "./serialized.ts"
import type { ThreadReader } from "./thread.ts"
import { damagedThread, missingThread } from "./thread-errors.ts"

/** Identifies the requested checkpoint. */
export interface CheckpointRequest {
  readonly thread: string
  readonly ns: string
  /** Absent: the newest. */
  readonly id: string | undefined
}

export function requestedCheckpoint(config: RunnableConfig): CheckpointRequest {
  const { thread_id: thread, checkpoint_ns: ns } = (config.configurable ?? {}) as Readonly<Record<string, unknown>>
  if (typeof thread !== "string" || thread === "") throw missingThread()
  return { thread, ns: typeof ns === "string" ? ns : "", id: getCheckpointId(config) || undefined }
}

export async function tupleOf(
  { segment, find }: ThreadReader,
  { thread, ns, id = segment.newestOf(ns) }: CheckpointRequest,
  serializer: ValueSerializer,
): Promise<CheckpointTuple | undefined> {
  const holder = id === undefined ? undefined : await find(ns, id)
  return holder && id !== undefined ? tupleIn(holder, { thread, ns, id, find, serializer }) : undefined
}

interface TupleInput extends Pick<ThreadReader, "find"> {
  readonly thread: string
  readonly ns: string
  readonly id: string
  readonly serializer: ValueSerializer
}

export async function tupleIn(
  segment: Segment,
  { thread, ns, id, find, serializer }: TupleInput,
): Promise<CheckpointTuple> {
  const state = segment.stateOf(ns, id)
  if (!state) throw damagedThread(thread)
  const parent = segment.parentOf(ns, id)
  // everything is read before the first await, because a later line may change the state
  const reading = serializer.unpack(state)
  const pendingWrites = await writesIn(segment, { ns, id }, serializer)
  const { checkpoint, metadata } = (await reading) as {
    readonly checkpoint: Omit<Checkpoint, "id">
    readonly metadata: CheckpointMetadata
  }
  const configOf = (checkpoint_id: string) => ({
    configurable: { thread_id: thread, checkpoint_ns: ns, checkpoint_id },
  })
  const isOlder = parent !== undefined && checkpoint.v < SENDS_INSIDE
  // there may be writes to a parent that was never stored
  const sends = isOlder
    ? await writesIn((await find(ns, parent)) ?? segment, { ns, id: parent }, serializer)
    : undefined
  return {
    config: configOf(id),
    checkpoint: { ...(sends ? withSends(checkpoint, sends) : checkpoint), id },
    metadata,
    pendingWrites,
    ...(parent === undefined ? {} : { parentConfig: configOf(parent) }),
  }
}

const SENDS_INSIDE = 4 // checkpoint version since which sent tasks are part of the checkpoint

/** Adds sent tasks to a checkpoint of an older LangGraph, where they are among the writes to its parent. */
function withSends(
  checkpoint: Omit<Checkpoint, "id">,
  writes: readonly CheckpointPendingWrite[],
): Omit<Checkpoint, "id"> {
  const { channel_values, channel_versions } = checkpoint
  const sends = writes.filter(([, channel]) => channel === TASKS).map(([, , value]) => value)
  const versions = Object.values(channel_versions)
  return {
    ...checkpoint,
    channel_values: { ...channel_values, [TASKS]: sends },
    channel_versions: { ...channel_versions, [TASKS]: versions.length > 0 ? maxChannelVersion(...versions) : 1 },
  }
}

export const writesIn = (
  segment: Segment,
  { ns, id }: { readonly ns: string; readonly id: string },
  serializer: ValueSerializer,
): Promise<CheckpointPendingWrite[]> =>
  Promise.all(
    segment
      .writesOf(ns, id)
      .map(
        async ({ task, channel, value }): Promise<CheckpointPendingWrite> => [
          task,
          channel,
          await serializer.unpack(value),
        ],
      ),
  )
