/** Renders the sessions as a markdown table. */
import { formatNumber } from "../../../packages/core/src/base/text.ts"
import type { ClaudeSession } from "./session.ts"

const CHARACTERS_PER_TOKEN = 4

export function sessionsTable(sessions: readonly ClaudeSession[]): string {
  const rows = sessions.map(({ way, facts, inView, characters, firstWrite, requests, refused, dollars }) => [
    ...[
      way,
      `${inView} of ${facts}`,
      formatNumber(Math.round(characters / CHARACTERS_PER_TOKEN)),
      formatNumber(firstWrite),
    ],
    ...[String(requests), String(refused), `$${dollars.toFixed(2)}`],
  ])
  const head = ["compaction", "facts in view", "tokens after", "first cache write", "requests", "refused", "cost"]
  return [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n")
}
