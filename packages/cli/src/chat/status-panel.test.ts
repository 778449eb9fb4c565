import { expect, test } from "vitest"
import { type Status, statusLines } from "./status-panel.ts"

const status = (parts: Partial<Status>): string =>
  statusLines(
    {
      ...{ id: "an-id", model: "claude-opus-5-5", mode: "ask", directory: "/work", settings: { sandbox: "unasked" } },
      sandbox: { state: "ready", name: "bubblewrap", hasNamespaces: true, prefix: () => [] },
      ...parts,
    },
    300,
  ).join("\n")

test("PERM-8 /status says whether there is a sandbox, what runs in it, and how to get one", () => {
  expect(status({})).toMatch(/^sandbox +bubblewrap\. Commands that no one allowed run in it/m)
  expect(status({ settings: { sandbox: "all" } })).toContain("Commands that you allowed run in it too")
  expect(status({ settings: { sandbox: "off" } })).toContain('the setting sandbox is "off"')
  const missing = { state: "missing" as const, why: "Install the package bubblewrap to have one." }
  expect(status({ sandbox: missing })).toMatch(/sandbox +There is no sandbox on this system\. Install the package/)
})
