/** Records messages ahead of a later `compactMessages`, which spends most of its time on that. */
import { runCooperatively } from "../../../base/work.ts"
import type { CompactionCarryover } from "./compact-messages.ts"
import { type CompactableMessage, inputMessages } from "./input-messages.ts"
import { MessageRecord } from "./message-record.ts"

export interface RecordMessagesOptions {
  /** The `state` of the previous call. */
  readonly before?: CompactionCarryover
  /** The messages that the next `compactMessages` gets and that are recorded by then. Default: the messages passed here. */
  readonly recorded?: readonly CompactableMessage[]
}

/** Records messages. Pass the result as `before` to a later call, which does not record them again. */
export async function recordMessages(
  messages: readonly CompactableMessage[],
  { before, recorded = messages }: RecordMessagesOptions = {},
): Promise<CompactionCarryover> {
  const record = new MessageRecord(before?.record)
  const inputs = inputMessages(messages, before)
  await runCooperatively(
    (function* () {
      for (const { message } of inputs) {
        record.add(message)
        yield
      }
    })(),
  )
  const kept = inputMessages(recorded, before).map(({ key }) => key)
  return { version: 1, record: record.save(), kept, text: before?.text ?? "", summary: before?.summary ?? "" }
}
