/** The hooks around a compaction, in order: PreCompact, SessionStart with the source `compact`, PostCompact. */
import type { CompactionHooks } from "../layers/4-compaction/options.ts"
import { type Hook, type HookInput, runHooks, runPreCompact } from "./hooks.ts"

type Session = Pick<HookInput, "session_id" | "transcript_path" | "cwd">

export function compactionHooks(hooks: readonly Hook[], session: () => Session): CompactionHooks {
  return {
    before: ({ trigger, instructions }) =>
      runPreCompact(hooks, { trigger, customInstructions: instructions, session: session() }),
    started: () => runHooks(hooks, { ...session(), hook_event_name: "SessionStart", source: "compact" }, "compact"),
    // only its message to the person is used
    after: ({ trigger, summary }) =>
      runHooks(hooks, { ...session(), hook_event_name: "PostCompact", trigger, compact_summary: summary }, trigger),
  }
}
