/** The hooks around a compaction, in order: PreCompact, SessionStart with the source `compact`, PostCompact. */
import type { CompactionHooks } from "../../layers/4-compaction/options.ts"
import { type RunHooks, reportsOf } from "./hooks.ts"

export function compactionHooks(runHooks: RunHooks): CompactionHooks {
  return {
    async before({ trigger, instructions: own, ...run }) {
      const about = { trigger, custom_instructions: own }
      const { contexts, messages, blocked, stop } = await runHooks("PreCompact", { about, ...given(run, "PreCompact") })
      const all = [own, ...contexts.map(({ text }) => text)].filter((text) => text !== "")
      return { instructions: all.join("\n\n"), messages, blocked: blocked ?? stop }
    },
    async started(run = {}) {
      const outcome = await runHooks("SessionStart", { about: { source: "compact" }, ...given(run, "SessionStart") })
      return { contexts: outcome.contexts, messages: reportsOf(outcome) }
    },
    // only what it wants the person to know is used
    async after({ trigger, summary, signal }) {
      try {
        const about = { trigger, compact_summary: summary }
        return { messages: reportsOf(await runHooks("PostCompact", { about, ...(signal ? { signal } : {}) })) }
      } catch (error) {
        if (signal?.aborted) return { messages: [] } // the compaction is done
        throw error
      }
    },
  }
}

type Run = NonNullable<Parameters<CompactionHooks["started"]>[0]>

const given = ({ signal, progress }: Run, event: "PreCompact" | "SessionStart") => ({
  ...(signal ? { signal } : {}),
  ...(progress ? { onRun: (hook: string) => progress({ phase: "hook", event, hook }) } : {}),
})
