/** Work for a later `compactMessages` that can be done before the compaction: most of its time goes into recording messages. */
import { inSlices } from "../../../base/work.ts"
import type { CompactionCarryover } from "./carry.ts"
import { type CarryMessage, givenMessages } from "./given-messages.ts"
import { ConversationRecord } from "./record.ts"

export interface CarryAheadOptions {
  /** The state of the call before. */
  readonly before?: CompactionCarryover
  /** The messages that the next `compactMessages` gets and that are recorded by then. Default: those given here. */
  readonly recorded?: readonly CarryMessage[]
}

/** Records messages. The state is the `before` of a later call, which does not record them again. */
export async function carryAhead(
  messages: readonly CarryMessage[],
  { before, recorded = messages }: CarryAheadOptions = {},
): Promise<CompactionCarryover> {
  const record = new ConversationRecord(before?.record)
  const given = givenMessages(messages, before)
  await inSlices(
    (function* () {
      for (const { message } of given) {
        record.add(message)
        yield
      }
    })(),
  )
  const kept = givenMessages(recorded, before).map(({ key }) => key)
  return { version: 1, record: record.save(), kept, text: before?.text ?? "", summary: before?.summary ?? "" }
}
