/** The hooks around a compaction, in order: PreCompact, SessionStart with the source `compact`, PostCompact. */
import type { CompactionHooks } from "../layers/4-compaction/options.ts"
import type { RunHooks } from "./hooks.ts"

export function compactionHooks(runHooks: RunHooks): CompactionHooks {
  return {
    async before({ trigger, instructions: own }) {
      const { contexts, messages, blocked } = await runHooks("PreCompact", { trigger, custom_instructions: own })
      const all = [own, ...contexts.map(({ text }) => text)].filter((text) => text !== "")
      return { instructions: all.join("\n\n"), messages, blocked }
    },
    started: () => runHooks("SessionStart", { source: "compact" }),
    // only its message to the person is used
    after: ({ trigger, summary }) => runHooks("PostCompact", { trigger, compact_summary: summary }),
  }
}
