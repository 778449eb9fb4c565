import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { scratchDirectory } from "../../test/tool-context.ts"
import { readSettings } from "./settings.ts"

function project(files: Readonly<Record<string, unknown>>) {
  const cwd = scratchDirectory()
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(cwd, name, ".."), { recursive: true })
    writeFileSync(join(cwd, name), typeof content === "string" ? content : JSON.stringify(content))
  }
  const read = (at = cwd) => readSettings({ home: join(cwd, "home"), cwd: at, env: {} })
  return { cwd, read }
}

const SERVERS = {
  files: { type: "stdio", command: "mcp-files", args: ["."], env: { PORT: 3000 }, cwd: "sub", timeout: 60_000 },
  web: {
    type: "http",
    url: `https://\${HOST}/mcp`,
    headers: { Authorization: `Bearer \${TOKEN}` },
    description: "docs",
  },
  old: { type: "sse", url: "https://example.com/sse" },
  off: { command: "x", disabled: true },
}

test("PERM-3: servers in .mcp.json count after a person trusted them, and trust sees all of them", async () => {
  const { cwd, read } = project({ ".mcp.json": { mcpServers: SERVERS } })
  const reading = await read()
  expect(reading.settings({ trusted: false }).values.mcpServers).toEqual({})
  const { values, origins } = reading.settings({ trusted: true })
  expect(values.mcpServers).toEqual({
    files: { ...SERVERS.files, env: { PORT: "3000" } },
    web: { type: "http", url: SERVERS.web.url, headers: SERVERS.web.headers },
    old: SERVERS.old,
  })
  expect(origins["mcpServers.web"]).toBe(join(cwd, ".mcp.json"))
  expect(reading.items).toMatchObject([
    { kind: "MCP server", name: "files", what: "mcp-files . (in sub)", variables: { PORT: "3000" } },
    { kind: "MCP server", name: "web", secrets: ["HOST", "TOKEN"] },
    { kind: "MCP server", name: "old" },
  ])
})

test("the project's settings win over .mcp.json, and without one the fingerprint is as before", async () => {
  const settings = { mcpServers: { files: { command: "ours" } } }
  const both = project({ ".mcp.json": { mcpServers: SERVERS }, ".strata/settings.json": settings })
  const one = project({ ".strata/settings.json": settings })
  const none = project({ ".mcp.json": { mcpServers: {} }, ".strata/settings.json": settings })
  const { values } = (await both.read()).settings({ trusted: true })
  expect(values.mcpServers.files).toEqual({ command: "ours" })
  const fingerprints = await Promise.all([both, one, none].map(async ({ read }) => (await read()).fingerprint))
  expect(fingerprints[2]).toBe(fingerprints[1])
  expect(fingerprints[0]).not.toBe(fingerprints[1])
})

test("the file at the root of the repository counts in its directories", async () => {
  const { cwd, read } = project({
    ".git/HEAD": "ref",
    ".mcp.json": { mcpServers: { old: SERVERS.old } },
    "a/b.txt": "",
  })
  const reading = await read(join(cwd, "a"))
  expect(reading.settings({ trusted: true }).values.mcpServers).toEqual({ old: SERVERS.old })
})

test.each([
  [{ port: 1 }, "it needs a command to start, or a url"],
  [{ type: "ws", url: "wss://x.test" }, 'it has the type "ws", and Strata knows stdio, http and sse'],
  [{ command: "x", url: "https://x.test" }, "it has both a command and a url"],
  [{ url: "x" }, "it has a url that is not valid"],
  [{ command: "x", args: "y" }, "it has a value of the wrong kind"],
])("a server that cannot be used is left out with a sentence, and the others count: %j", async (server, why) => {
  const { read } = project({ ".mcp.json": { mcpServers: { "b\u001bad": server, old: SERVERS.old } } })
  const { values, problems } = (await read()).settings({ trusted: true })
  expect(Object.keys(values.mcpServers)).toEqual(["old"])
  expect(problems).toEqual([expect.stringContaining(`The MCP server b\\u001bad in `)])
  expect(problems![0]).toContain(why)
})

test.each(["{", "[]", '{"mcpServers":[1]}', '{"mcpServers":null}', "null"])(
  "a file that is no such list stops nothing: %s",
  async (content) => {
    const { read } = project({ ".mcp.json": content })
    expect((await read()).settings({ trusted: true }).values.mcpServers).toEqual({})
  },
)
