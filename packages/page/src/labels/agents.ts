/** How the states of agents read on every screen and page. */
import type { AgentView } from "@strata/core/agent"

export const STATUS_LABELS: Readonly<Record<AgentView["status"], string>> = {
  running: "running",
  idle: "waits",
  completed: "completed",
  failed: "failed",
  killed: "stopped",
}
