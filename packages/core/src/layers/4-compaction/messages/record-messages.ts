/** Work for a later `compactMessages` that can be done before the compaction: most of its time goes into recording messages. */
import { runCooperatively } from "../../../base/work.ts"
import type { CompactionCarryover } from "./compact-messages.ts"
import { type CompactableMessage, inputMessages } from "./input-messages.ts"
import { MessageRecord } from "./message-record.ts"

export interface RecordMessagesOptions {
  /** The state of the call before. */
  readonly before?: CompactionCarryover
  /** The messages that the next `compactMessages` gets and that are recorded by then. Default: those given here. */
  readonly recorded?: readonly CompactableMessage[]
}

/** Records messages. The state is the `before` of a later call, which does not record them again. */
export async function recordMessages(
  messages: readonly CompactableMessage[],
  { before, recorded = messages }: RecordMessagesOptions = {},
): Promise<CompactionCarryover> {
  const record = new MessageRecord(before?.record)
  const given = inputMessages(messages, before)
  await runCooperatively(
    (function* () {
      for (const { message } of given) {
        record.add(message)
        yield
      }
    })(),
  )
  const kept = inputMessages(recorded, before).map(({ key }) => key)
  return { version: 1, record: record.save(), kept, text: before?.text ?? "", summary: before?.summary ?? "" }
}
