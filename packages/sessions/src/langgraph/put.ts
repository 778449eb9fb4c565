/** Adds checkpoints and writes to a thread. Existing ones are not added again. */
import type { ChannelVersions } from "@langchain/langgraph-checkpoint"
import type { CheckpointDraft, Segment, Write } from "./segment.ts"
import { withStoredChannels } from "./stored-channels.ts"
import type { ThreadJournal, ThreadWriter } from "./thread.ts"
import { damagedThread } from "./thread-errors.ts"

/** `newVersions`: the channels that the step changed. */
export const putCheckpoint = (
  thread: ThreadJournal,
  requested: CheckpointDraft,
  newVersions: ChannelVersions,
): Promise<void> =>
  thread.write(async (writing) => {
    const { segment, find, add, begin } = writing
    const { ns, id } = requested
    const draft = withStoredChannels(segment, requested, newVersions)
    const holder = await find(ns, id)
    if (holder && holder !== segment) return putAgain(writing, holder, draft)
    if (!segment.isDue(draft) || holder) return add(segment.addCheckpoint(draft))
    const early = segment.writesOf(ns, id) // writes may arrive before their checkpoint
    const next = begin(segment.nextLine())
    add(next.addCheckpoint(draft))
    addAll({ segment: next, add, ns, id, writes: early })
  })

/** Writes a checkpoint of an earlier segment again if it differs. */
function putAgain({ segment, add }: ThreadWriter, holder: Segment, draft: CheckpointDraft): void {
  const { ns, id } = draft
  if (holder.isSame(draft)) return
  add(segment.addCheckpoint(draft, true))
  addAll({ segment, add, ns, id, writes: holder.writesOf(ns, id) })
}

export interface WritesDraft {
  readonly ns: string
  readonly id: string
  readonly task: string
  readonly writes: readonly Write[]
}

export const putWrites = (thread: ThreadJournal, { ns, id, task, writes }: WritesDraft): Promise<void> =>
  thread.write(async ({ segment, find, add }) => {
    const holder = await find(ns, id)
    if (holder && holder !== segment) {
      const state = holder.stateOf(ns, id)
      if (!state) throw damagedThread(segment.thread)
      add(segment.addCheckpoint({ ns, id, parent: holder.parentOf(ns, id), state }, true))
      addAll({ segment, add, ns, id, writes: holder.writesOf(ns, id) })
    }
    add(segment.addWrites({ ns, id, task }, writes))
  })

interface CopyInput extends Pick<ThreadWriter, "segment" | "add"> {
  readonly ns: string
  readonly id: string
  readonly writes: readonly Write[]
}

function addAll({ segment, add, ns, id, writes }: CopyInput): void {
  for (const [task, own] of Map.groupBy(writes, (write) => write.task)) add(segment.addWrites({ ns, id, task }, own))
}
