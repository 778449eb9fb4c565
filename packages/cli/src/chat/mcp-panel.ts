/** `/mcp`: each MCP server with its state, its tools and what their definitions cost in every request. */
import { escaped } from "@strata/core/internal/base/escaped-text"
import { isDeferred, nameOf } from "@strata/core/internal/messages/tool-references"
import { createEstimator } from "@strata/core/internal/tokens/estimate"
import { toolDefinition } from "@strata/core/internal/tools/definition/definition"
import { counted, short } from "../display/numbers.ts"
import type { SessionAgent } from "../session.ts"
import type { CommandTarget } from "./command-target.ts"

type Server = SessionAgent["servers"][number]

export interface ServerPicture extends Pick<Server, "name" | "state" | "why"> {
  readonly tools: number
  /** Of the definitions that every request carries. */
  readonly declared: number
  /** Of the definitions that are not loaded. */
  readonly waiting: number
}

export async function showMcp(target: CommandTarget): Promise<void> {
  const { servers, conversation } = target.agent
  const { prompt, family } = conversation.views.context
  const offered = (Array.isArray(prompt?.tools) ? prompt.tools : []) as Parameters<typeof nameOf>[0][]
  const declared = new Set(offered.filter((tool) => !isDeferred(tool)).map(nameOf))
  const isStarted = prompt !== undefined // before the first request nothing is decided
  const { text: estimate } = createEstimator(family)
  const pictures = servers.map(async ({ tools, ...server }): Promise<ServerPicture> => {
    const sized = await Promise.all(
      tools.map(async (tool) => ({
        isDeclared: !isStarted || declared.has(tool.name),
        tokens: estimate(JSON.stringify(await toolDefinition(tool))),
      })),
    )
    const sum = (isDeclared: boolean) =>
      sized.reduce((total, tool) => total + (tool.isDeclared === isDeclared ? tool.tokens : 0), 0)
    return { ...server, tools: tools.length, declared: sum(true), waiting: sum(false) }
  })
  target.print("MCP servers", mcpLines(await Promise.all(pictures)))
}

export function mcpLines(servers: readonly ServerPicture[]): readonly string[] {
  if (servers.length === 0)
    return ["No MCP server is set up. Name them in .mcp.json of the project, or under mcpServers in the settings."]
  const widest = Math.max(...servers.map(({ name }) => escaped(name).length))
  const declared = servers.reduce((sum, server) => sum + server.declared, 0)
  const waiting = servers.reduce((sum, server) => sum + server.waiting, 0)
  return [
    ...servers.flatMap((server) => [
      `${escaped(server.name).padEnd(widest)}  ${stateOf(server)}`,
      ...(server.why === undefined ? [] : [`${" ".repeat(widest)}  ${escaped(server.why)}`]),
    ]),
    "",
    `Every request carries about ${short(declared)} tokens of their definitions.`,
    ...(waiting > 0 ? [`Another ${short(waiting)} tokens are not loaded: the agent finds them with ToolSearch.`] : []),
  ]
}

function stateOf({ state, tools, declared, waiting }: ServerPicture): string {
  if (state === "connected") return [`connected, ${counted(tools, "tool")}`, ...costOf(declared, waiting)].join(", ")
  return STATES[state]
}

function costOf(declared: number, waiting: number): readonly string[] {
  const parts = declared > 0 ? [`${short(declared)} tokens in every request`] : []
  return waiting > 0 ? [...parts, `${short(waiting)} tokens not loaded`] : parts
}

const STATES: Readonly<Record<Exclude<Server["state"], "connected">, string>> = {
  starting: "starting; its tools join when it is ready",
  failed: "not available; your next message tries it again",
  lost: "lost; the next call connects again",
  closed: "closed",
}
