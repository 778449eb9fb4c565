/** A replay that measures the time of each policy. */
import type { RecordedConversation } from "./recorded-steps.ts"
import { type ReplayInput, replay } from "./replay.ts"
import type { ScoredReplay } from "./scorecard.ts"

export interface TimedInput extends Omit<ReplayInput, "around"> {
  /** Called when a policy starts. */
  readonly onPolicy?: (name: string) => void
}

export async function timedReplay(
  conversation: RecordedConversation,
  { onPolicy, ...input }: TimedInput = {},
): Promise<Required<ScoredReplay>> {
  const processingMs: Record<string, number> = {}
  const found = await replay(conversation, {
    ...input,
    around: async ({ name }, run) => {
      onPolicy?.(name)
      const from = performance.now()
      const result = await run()
      processingMs[name] = performance.now() - from
      return result
    },
  })
  return { replay: found, processingMs }
}
