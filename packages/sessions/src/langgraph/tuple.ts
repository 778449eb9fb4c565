/** Checkpoints as LangGraph wants them. */
import type { RunnableConfig } from "@langchain/core/runnables"
import type {
  Checkpoint,
  CheckpointMetadata,
  CheckpointPendingWrite,
  CheckpointTuple,
} from "@langchain/langgraph-checkpoint"
import { getCheckpointId, maxChannelVersion, TASKS } from "@langchain/langgraph-checkpoint"
import type { Segment } from "./segment.ts"
import type { Serialised } from "./serialised.ts"
import type { Reading } from "./thread.ts"
import { damagedThread, missingThread } from "./thread-errors.ts"

/** Which checkpoint is asked for. */
export interface Wanted {
  readonly thread: string
  readonly ns: string
  /** Absent: the newest. */
  readonly id: string | undefined
}

export function wantedIn(config: RunnableConfig): Wanted {
  const { thread_id: thread, checkpoint_ns: ns } = (config.configurable ?? {}) as Readonly<Record<string, unknown>>
  if (typeof thread !== "string" || thread === "") throw missingThread()
  return { thread, ns: typeof ns === "string" ? ns : "", id: getCheckpointId(config) || undefined }
}

export async function tupleOf(
  { segment, find }: Reading,
  { thread, ns, id = segment.newestOf(ns) }: Wanted,
  serialised: Serialised,
): Promise<CheckpointTuple | undefined> {
  const holder = id === undefined ? undefined : await find(ns, id)
  return holder && id !== undefined ? tupleIn(holder, { thread, ns, id, find, serialised }) : undefined
}

interface WantedIn extends Pick<Reading, "find"> {
  readonly thread: string
  readonly ns: string
  readonly id: string
  readonly serialised: Serialised
}

export async function tupleIn(
  segment: Segment,
  { thread, ns, id, find, serialised }: WantedIn,
): Promise<CheckpointTuple> {
  const state = segment.stateOf(ns, id)
  if (!state) throw damagedThread(thread)
  const parent = segment.parentOf(ns, id)
  // everything is looked at before the first wait: a later line may change the state
  const reading = serialised.unpack(state)
  const pendingWrites = await writesIn(segment, { ns, id }, serialised)
  const { checkpoint, metadata } = (await reading) as {
    readonly checkpoint: Omit<Checkpoint, "id">
    readonly metadata: CheckpointMetadata
  }
  const configOf = (checkpoint_id: string) => ({
    configurable: { thread_id: thread, checkpoint_ns: ns, checkpoint_id },
  })
  const isOlder = parent !== undefined && checkpoint.v < SENDS_INSIDE
  // there may be writes to a parent that was never put
  const sends = isOlder
    ? await writesIn((await find(ns, parent)) ?? segment, { ns, id: parent }, serialised)
    : undefined
  return {
    config: configOf(id),
    checkpoint: { ...(sends ? withSends(checkpoint, sends) : checkpoint), id },
    metadata,
    pendingWrites,
    ...(parent === undefined ? {} : { parentConfig: configOf(parent) }),
  }
}

const SENDS_INSIDE = 4 // the version of checkpoints from which on they have the tasks that were sent

/** A checkpoint of an older LangGraph: what was sent is among the writes to its parent. */
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
  serialised: Serialised,
): Promise<CheckpointPendingWrite[]> =>
  Promise.all(
    segment
      .writesOf(ns, id)
      .map(
        async ({ task, channel, value }): Promise<CheckpointPendingWrite> => [
          task,
          channel,
          await serialised.unpack(value),
        ],
      ),
  )
