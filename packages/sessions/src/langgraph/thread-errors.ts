/** Errors of threads. */
import { escapeInvisible, StrataError } from "@strata/core/base"

export const damagedThread = (thread: string): StrataError =>
  new StrataError(
    `A line of thread "${escapeInvisible(thread)}" was changed after it was written, and this checkpoint depends on it. Nothing was changed. Continue from a later or an earlier checkpoint, or restore its journal from a backup.`,
    { code: "damaged-thread" },
  )

export const missingThread = (): StrataError =>
  new StrataError(
    'The configuration names no thread, so nothing was stored. Pass one: { configurable: { thread_id: "chat-7" } }.',
    { code: "missing-thread" },
  )

export const missingCheckpoint = (): StrataError =>
  new StrataError("The configuration names no checkpoint that the writes belong to. Nothing was stored.", {
    code: "missing-checkpoint",
  })
