/** Labels for the states of agents. */
import type { AgentView } from "@strata/core/agent"

export const STATUS_LABELS: Readonly<Record<AgentView["status"], string>> = {
  running: "running",
  idle: "waits",
  completed: "completed",
  failed: "failed",
  killed: "stopped",
}
