/** `strata mcp`: an MCP server for other agents, over standard input and output or over HTTP on this machine. */
import { once } from "node:events"
import { realpath } from "node:fs/promises"
import { resolve } from "node:path"
import { mcpServer, mcpToken, serveHttp, serveStdio } from "@strata/plugins/mcp"
import { readArguments } from "../arguments.ts"
import { type CommandCall, type Run, UsageError } from "../command.ts"
import { MCP } from "../descriptions.ts"
import { jsonForTerminal } from "../display/visible.ts"
import { version } from "../version.ts"

const PORT = 4017

export const run: Run = async ({ args, cwd, env, terminal, stdin }) => {
  const { values } = readArguments(MCP, args)
  const { http, port, project } = values
  if (port !== undefined && !http) throw new UsageError("--port belongs to: strata mcp --http")
  if (!http && (!stdin || stdin.isTTY))
    throw new UsageError('An agent starts strata mcp and talks to it through a pipe. "strata mcp --help" shows how.')
  const server = mcpServer({ cwd: await directoryOf(project, cwd), env, version: version() })
  try {
    if (http) await listen(server.methods, { env, terminal, port: port ?? PORT })
    else
      await serveStdio(server.methods, {
        input: stdin!,
        send: (answer) => terminal.print(`${jsonForTerminal(answer)}\n`),
      })
  } finally {
    await server.close()
  }
  return 0
}

async function directoryOf(project: string | undefined, cwd: string): Promise<string> {
  const path = resolve(cwd, project ?? ".")
  return realpath(path).catch(() => {
    throw new UsageError(`There is no directory ${path}. Nothing was started.`)
  })
}

async function listen(
  methods: ReturnType<typeof mcpServer>["methods"],
  { env, terminal, port }: Pick<CommandCall, "env" | "terminal"> & { readonly port: number },
): Promise<void> {
  const { token, path } = await mcpToken(env)
  const { url, close } = await serveHttp(methods, { token, port })
  const where = path === undefined ? "in STRATA_MCP_TOKEN" : `in ${path}`
  terminal.print(`${url}\nEvery request needs the header "Authorization: Bearer TOKEN". The token is ${where}.\n`)
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")])
  await close()
}
