/** What the person and hooks want of a summary, and whether a hook keeps it from being made. */
import { unlessInterrupted } from "../../tools/interruption.ts"
import type { CompactionOptions } from "./options.ts"
import type { Situation } from "./situation.ts"

export interface Wishes {
  /** The user's first, then those of hooks. */
  readonly instructions: readonly string[]
  /** Why a hook does not allow it. */
  readonly blocked: string | undefined
}

export async function askHooks(
  { hooks, guidance }: Pick<CompactionOptions, "hooks" | "guidance">,
  { context, order }: Pick<Situation, "context" | "order">,
): Promise<Wishes> {
  const { trigger, instructions = "" } = order
  const own = [instructions, ...(guidance?.() ?? [])].filter((text) => text.trim() !== "")
  if (!hooks) return { instructions: own, blocked: undefined }
  const { signal, progress } = context
  const about = { trigger, instructions: own.join("\n\n"), signal, progress }
  const asked = await unlessInterrupted(signal, hooks.before(about))
  if (asked.state === "interrupted") throw context.signal.reason
  const answer = asked.value
  for (const message of answer.messages) context.progress({ phase: "message", message })
  return { instructions: [answer.instructions].filter((text) => text !== ""), blocked: answer.blocked }
}
