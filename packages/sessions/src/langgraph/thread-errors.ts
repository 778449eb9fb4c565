/** What can go wrong with a thread, as sentences for a person. */
import { escaped, StrataError } from "@strata/core/base"

export const damagedThread = (thread: string): StrataError =>
  new StrataError(
    `A line of thread "${escaped(thread)}" was changed after it was written, and this checkpoint is built on it. Nothing was changed. Go on from a later or an earlier checkpoint of its history, or restore its journal from a backup.`,
    { code: "damaged-thread" },
  )

export const missingThread = (): StrataError =>
  new StrataError(
    'The configuration names no thread, so nothing was kept. Pass one: { configurable: { thread_id: "chat-7" } }.',
    { code: "missing-thread" },
  )

export const missingCheckpoint = (): StrataError =>
  new StrataError("The configuration names no checkpoint that the writes belong to. Nothing was kept.", {
    code: "missing-checkpoint",
  })
