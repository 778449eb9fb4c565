/**
 * The client that the conformance suite of MCP starts for each scenario: `mcpServers()` of the installed `@strata/core`, with a simulated
 * user who signs in on request and accepts the proposals of a form. The suite adds the address of its server as the last argument.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { mcpServers, type Tool, type ToolContext, type ToolOutput } from "@strata/core"

/** Tool inputs that scenarios expect. All other tools are called without input. */
const INPUTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  add_numbers: { a: 5, b: 3 },
}
const NEEDS_RIGHTS = /you have to sign in again/
const MAX_SIGN_INS = 3 // a server that asks again and again must not get an answer each time

/** Follows redirects from an address as a browser does, until the server's redirect to the client. */
async function visit(address: string): Promise<string | undefined> {
  const { headers } = await fetch(address, { redirect: "manual" })
  return headers.get("location") ?? undefined
}

/** Selects the first choice, or leaves a field as the form proposes it. */
const askPerson: ToolContext["promptUser"] = async ({ options }) => options?.[0] ?? ""

const call = async ({ name, execute }: Tool): Promise<ToolOutput> => {
  const input = Object.entries(INPUTS).find(([tool]) => name.endsWith(`__${tool}`))?.[1] ?? {}
  const context = { signal: new AbortController().signal, progress: () => undefined, promptUser: askPerson }
  return (await execute(input, context as unknown as ToolContext)) as ToolOutput
}

const url = process.argv.at(-1)!
const root = mkdtempSync(join(tmpdir(), "strata-conformance-"))
const opened = await mcpServers({ suite: { url } }).open({ cwd: root, root, env: process.env })
const server = () => opened.servers!()[0]!
let signIns = 0
try {
  while (server().state === "needs-sign-in" && signIns++ < MAX_SIGN_INS) await server().signIn!({ visit })
  for (const tool of server().tools) {
    let { isError, content } = await call(tool)
    while (isError && NEEDS_RIGHTS.test(String(content)) && signIns++ < MAX_SIGN_INS) {
      await server().signIn!({ visit })
      ;({ isError, content } = await call(tool))
    }
    console.log(tool.name, isError ? "failed:" : "answered:", content)
  }
  const { state, why } = server()
  console.log("The server is", state, why ?? "")
  if (state !== "connected") process.exitCode = 1
} finally {
  await opened.close()
  rmSync(root, { recursive: true, force: true })
}
