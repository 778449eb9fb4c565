/** The hooks around a compaction, in order: PreCompact, SessionStart with the source `compact`, PostCompact. */
import type { CompactionHooks } from "../layers/4-compaction/options.ts"
import { type RunHooks, reportsOf } from "./hooks.ts"

export function compactionHooks(runHooks: RunHooks): CompactionHooks {
  return {
    async before({ trigger, instructions: own, signal }) {
      const about = { trigger, custom_instructions: own }
      const { contexts, messages, blocked, stop } = await runHooks("PreCompact", { about, ...given(signal) })
      const all = [own, ...contexts.map(({ text }) => text)].filter((text) => text !== "")
      return { instructions: all.join("\n\n"), messages, blocked: blocked ?? stop }
    },
    async started({ signal } = {}) {
      const outcome = await runHooks("SessionStart", { about: { source: "compact" }, ...given(signal) })
      return { contexts: outcome.contexts, messages: reportsOf(outcome) }
    },
    // only what it wants the person to know is used
    async after({ trigger, summary, signal }) {
      try {
        const about = { trigger, compact_summary: summary }
        return { messages: reportsOf(await runHooks("PostCompact", { about, ...given(signal) })) }
      } catch (error) {
        if (signal?.aborted) return { messages: [] } // the compaction is done
        throw error
      }
    },
  }
}

const given = (signal: AbortSignal | undefined) => (signal ? { signal } : {})
