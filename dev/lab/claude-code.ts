/**
 * Runs the real Claude Code on the simulator, with its own compaction and with the plugin. It measures which of 43 planted facts are in
 * view after ten compactions, the size of the context, the first cache write, and the bill. The summaries of Claude Code's own compaction
 * are written by the simulator, so its row shows the cost, not the quality of a model's summary. For quality see `npm run
 * score:compaction`.
 *
 *     npm run bench:claude-code -- [--version latest] [--claude FILE] [--compactions 10] [--json]
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { type ClaudeSession, trySession, WAYS } from "./claude-code/session.ts"
import { sessionsTable } from "./claude-code/table.ts"
import { install } from "./clients/install.ts"

const { values } = parseArgs({
  options: {
    version: { type: "string", default: "latest" },
    claude: { type: "string" },
    compactions: { type: "string", default: "10" },
    json: { type: "boolean", default: false },
  },
})
const root = mkdtempSync(join(tmpdir(), "strata-inside-"))
try {
  const claude = values.claude ?? (await installed(values.version))
  const sessions: ClaudeSession[] = []
  for (const way of WAYS) {
    console.error(`${way}: ${values.compactions} compactions`)
    sessions.push(await trySession({ way, claude, root, compactions: Number(values.compactions) }))
  }
  console.log(values.json ? JSON.stringify(sessions, null, 2) : sessionsTable(sessions))
} finally {
  rmSync(root, { recursive: true, force: true })
}

async function installed(version: string): Promise<string> {
  const found = await install(root, [`@anthropic-ai/claude-code@${version}`])
  if (typeof found !== "string") return join(found.directory, "node_modules", ".bin", "claude")
  console.error(
    `Claude Code ${version}: ${found}. Name one that is installed: npm run bench:claude-code -- --claude FILE`,
  )
  process.exit(1)
}
