/** Whether the plugin of Claude Code does its work, from what it noted about each compaction. */
import { listClientCompactions } from "@strata/plugins"
import type { CommandCall } from "../command.ts"
import { type CheckResult, ok, problem } from "./check.ts"

const NAME = "plugin"

/** No line where Claude Code never handed over a compaction. */
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
