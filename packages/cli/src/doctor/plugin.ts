/** Checks whether the Claude Code plugin works, from its records of compactions. */
import { listClientCompactions } from "@strata/plugins"
import type { CommandCall } from "../command.ts"
import { type CheckResult, ok, problem } from "./check.ts"

const NAME = "plugin"

/** Empty if Claude Code never passed a compaction to the plugin. */
export async function checkPlugin(env: CommandCall["env"]): Promise<readonly CheckResult[]> {
  const all = await listClientCompactions("claude-code", env)
  const failed = all.filter(({ outcome }) => outcome === "fell-back")
  if (all.length === 0) return []
  const count = `${all.length} compaction${all.length === 1 ? "" : "s"} in Claude Code`
  if (failed.length === 0) return [ok(NAME, `none of ${count} fell back to its own`)]
  const reasons = Map.groupBy(failed, ({ why }) => why ?? "it did not say why")
  const listed = [...reasons].map(([why, each]) => (each.length === 1 ? why : `${why} (${each.length} times)`))
  const newest = failed.at(-1)!.at.slice(0, 16).replace("T", " ")
  return [
    problem(NAME, `${failed.length} of ${count} fell back to its own, the newest on ${newest}: ${listed.join("; ")}`),
  ]
}
