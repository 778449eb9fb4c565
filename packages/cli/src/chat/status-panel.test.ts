import { expect, test } from "vitest"
import { type StatusPanelState, statusLines } from "./status-panel.ts"

const status = (parts: Partial<StatusPanelState>): string =>
  statusLines(
    {
      ...{ id: "an-id", model: "claude-opus-5-5", mode: "ask", directory: "/work", settings: { sandbox: "unasked" } },
      ...{ version: "1.2.3", journal: "/home/ada/.strata/projects/work/an-id.jsonl", servers: [], env: {} },
      tokens: { used: 20_000, limit: 167_000, percentLeft: 88 },
      cost: { dollars: 0.5, requests: 3, isIncomplete: false },
      sandbox: { state: "ready", name: "bubblewrap", hasNamespaces: true, prefix: () => [] },
      ...parts,
    },
    300,
  ).join("\n")

test("PERM-8 /status says whether there is a sandbox, what runs in it, and how to get one", () => {
  expect(status({})).toMatch(/^sandbox +bubblewrap\. Unapproved commands run in it/m)
  expect(status({ settings: { sandbox: "all" } })).toContain("Approved commands run in it too")
  expect(status({ settings: { sandbox: "off" } })).toContain('the setting sandbox is "off"')
  const missing = { state: "missing" as const, why: "To have one: sudo apt-get install bubblewrap" }
  expect(status({ sandbox: missing })).toMatch(
    /sandbox +This system has no sandbox, so more commands need your approval\. To/,
  )
})

test("BEY-18 /status says where everything is, what it cost and how you are signed in, and never shows a key", () => {
  const shown = status({
    title: "Fix the build",
    servers: [{ name: "db\u001b[2J", state: "connected" }],
    env: { ANTHROPIC_API_KEY: "sk-ant-secret", ANTHROPIC_BASE_URL: "http://user:pass@127.0.0.1:8080/v1" },
  })
  for (const line of [
    /^version +1\.2\.3$/m,
    /^conversation +an-id \(Fix the build\)$/m,
    /^journal +\/home\/ada\/\.strata\/projects\/work\/an-id\.jsonl$/m,
    /^tokens +20\.0K of 167K, 88% left$/m,
    /^cost +\$0\.5000 for 3 requests$/m,
    /^signed in +with ANTHROPIC_API_KEY, at 127\.0\.0\.1:8080$/m,
    /^MCP servers +db.*\(connected\)$/m,
  ])
    expect(shown).toMatch(line)
  for (const hidden of ["secret", "pass", "\u001b"]) expect(shown).not.toContain(hidden)
  const token = status({ env: { ANTHROPIC_AUTH_TOKEN: "t", ANTHROPIC_API_KEY: "k" } })
  expect(token).toMatch(/signed in +with ANTHROPIC_AUTH_TOKEN$/m)
  expect(status({ cost: { dollars: 1, requests: 1, isIncomplete: true } })).toContain("more than $1.00 for 1 request")
})
