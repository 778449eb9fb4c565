/**
 * `/mcp`: each MCP server with its state, its capabilities and the token cost of its tools per request. `/mcp tools NAME` lists the tools
 * of one, and `/mcp login NAME` signs in to one.
 */

import { toolDefinition } from "@strata/core/agent"
import { internalsOf } from "@strata/core/conversation"
import { isDeferred, toolName } from "@strata/core/messages"
import { createEstimator } from "@strata/core/tokens"
import { escapeInvisible } from "../display/escaped.ts"
import { shortenList } from "../display/long-list.ts"
import { formatCompact, pluralize } from "../display/numbers.ts"
import { table } from "../display/table.ts"
import { firstLine, indent, padEnd, truncate, widthOf, wrapText } from "../display/text.ts"
import { openInBrowser } from "../open-browser.ts"
import type { SessionAgent } from "../session.ts"
import type { CommandTarget } from "./command-target.ts"
import type { PanelOptions } from "./panels.ts"

type Server = SessionAgent["servers"][number]

export interface ServerState extends Pick<Server, "name" | "state" | "why"> {
  readonly tools: number
  readonly prompts?: number
  readonly hasResources?: boolean
  /** Tokens of the tool definitions that every request contains. */
  readonly declared: number
  /** Tokens of the tool definitions that are not loaded. */
  readonly waiting: number
}

export async function mcp(target: CommandTarget, argument: string): Promise<void> {
  const [verb, name] = argument.trim().split(/\s+(.*)/s)
  if (!verb || (verb === "all" && !name)) return showMcp(target, verb === "all")
  if (verb === "tools" && name) return showTools(target, name)
  if (verb === "login" && name) return signIn(target, name)
  target.notice("Type /mcp to see the servers, /mcp tools NAME to see the tools of one, or /mcp login NAME to sign in.")
}

function serverNamed(target: CommandTarget, name: string): Server | undefined {
  const server = target.agent.servers.find((one) => one.name === name)
  if (!server) target.notice(`There is no MCP server named ${escapeInvisible(name)}. /mcp lists them.`)
  return server
}

async function signIn(target: CommandTarget, name: string): Promise<void> {
  const server = serverNamed(target, name)
  if (!server) return
  if (!server.signIn)
    return target.notice(`The MCP server ${escapeInvisible(name)} offers no sign-in. /mcp shows its state.`)
  await server.signIn({ visit: (address, signal) => visit(target, { name, address, signal }) })
  target.notice(`Signed in to ${escapeInvisible(name)}. Its tools join with your next message.`)
}

interface SignInPage {
  readonly name: string
  readonly address: string
  readonly signal: AbortSignal
}

/** If the browser runs on another machine, the user pastes the address of the page that it cannot open. */
async function visit(target: CommandTarget, { name, address, signal }: SignInPage): Promise<string | undefined> {
  const title = `Sign in to ${escapeInvisible(name)}`
  const { host } = new URL(address)
  signal.addEventListener("abort", () => target.dismiss(title), { once: true })
  target.notice(`To sign in to ${escapeInvisible(name)}, open this address at ${host}:\n${address}`)
  for (let isOpened = false; !signal.aborted; isOpened = true) {
    const answer = await target.ask({
      title,
      why: isOpened ? "Waiting for the browser." : `The page is at ${host}. Strata waits until you come back from it.`,
      options: [
        { label: isOpened ? "Open the page again" : "Open the page in a browser here", letter: "o" },
        { label: "Paste the address that the browser ends at, or the code", letter: "p", asksReply: "required" },
        { label: "Cancel", letter: "c" },
      ],
      selected: isOpened ? 1 : 0,
    })
    if (answer.type === "dismissed" || answer.index === 2) return undefined
    if (answer.index === 1) return answer.reply
    if (!(await openInBrowser(address))) target.notice("No browser could be started here. Open the address yourself.")
  }
  return undefined
}

interface SizedTool {
  readonly name: string
  readonly description: string
  readonly isDeclared: boolean
  readonly tokens: number
}

/** Measures tools as they are sent. Before the first request, all of them count as declared. */
function sizer({ conversation }: SessionAgent): (tools: Server["tools"]) => Promise<readonly SizedTool[]> {
  const { prompt, family } = internalsOf(conversation).views.context
  const offered = (Array.isArray(prompt?.tools) ? prompt.tools : []) as Parameters<typeof toolName>[0][]
  const declared = new Set(offered.filter((tool) => !isDeferred(tool)).map(toolName))
  const { text: estimate } = createEstimator(family)
  return (tools) =>
    Promise.all(
      tools.map(async (tool) => {
        const definition = await toolDefinition(tool)
        const isDeclared = prompt === undefined || declared.has(tool.name)
        const { description = "" } = definition as { readonly description?: string }
        return { name: tool.name, description, isDeclared, tokens: estimate(JSON.stringify(definition)) }
      }),
    )
}

async function showTools(target: CommandTarget, name: string): Promise<void> {
  const server = serverNamed(target, name)
  if (!server) return
  const tools = await sizer(target.agent)(server.tools)
  target.print(`Tools of ${escapeInvisible(name)}`, (columns) => toolLines(tools, columns))
}

/** Tools with their sizes, largest first. */
export function toolLines(tools: readonly SizedTool[], width: number): readonly string[] {
  if (tools.length === 0) return ["It offers no tools now. /mcp shows its state."]
  const rows = tools.toSorted((a, b) => b.tokens - a.tokens)
  return table({
    ...{ width, indent: 0 },
    titles: (text) => text,
    columns: [
      { title: "tool", gives: "end" },
      { title: "tokens", align: "right" },
      { title: "", isMinor: true },
      { title: "about", gives: "end" },
    ],
    rows: rows.map(({ name, tokens, isDeclared, description }) => [
      escapeInvisible(name),
      formatCompact(tokens),
      isDeclared ? "" : "not loaded",
      escapeInvisible(firstLine(description, width)),
    ]),
  })
}

async function showMcp(target: CommandTarget, isWhole: boolean): Promise<void> {
  const { servers } = target.agent
  const sizes = sizer(target.agent)
  const pictures = servers.map(async ({ name, state, why, tools, prompts, resources }): Promise<ServerState> => {
    const sized = await sizes(tools)
    const sum = (isDeclared: boolean) =>
      sized.reduce((total, tool) => total + (tool.isDeclared === isDeclared ? tool.tokens : 0), 0)
    return {
      ...{ name, state, tools: tools.length, declared: sum(true), waiting: sum(false) },
      ...(why === undefined ? {} : { why }),
      ...{ prompts: prompts?.length ?? 0, hasResources: resources !== undefined },
    }
  })
  const shown = await Promise.all(pictures)
  target.print("MCP servers", (columns) => mcpLines(shown, { columns, isWhole }))
}

const MAX_SERVERS = 30
const MAX_NAME_SHARE = 0.4

export function mcpLines(
  servers: readonly ServerState[],
  { columns, isWhole = false }: PanelOptions,
): readonly string[] {
  if (servers.length === 0) return wrapText(NO_SERVERS, columns)
  const { shown, rest } = shortenList(servers, { isShort: !isWhole, max: MAX_SERVERS, seeAll: "/mcp all" })
  const longest = Math.max(...shown.map(({ name }) => widthOf(escapeInvisible(name))))
  const widest = Math.min(longest, Math.floor(columns * MAX_NAME_SHARE))
  const below = (text: string) => indent(wrapText(text, columns - widest - 2), widest + 2)
  const declared = servers.reduce((sum, server) => sum + server.declared, 0)
  const waiting = servers.reduce((sum, server) => sum + server.waiting, 0)
  return [
    ...shown.flatMap((server) => {
      const [first = "", ...more] = below(describeState(server))
      const name = padEnd(truncate(escapeInvisible(server.name), widest), widest)
      return [
        `${name}${first.slice(widest)}`,
        ...more,
        ...(server.why === undefined ? [] : below(escapeInvisible(server.why))),
      ]
    }),
    ...rest,
    "",
    ...wrapText(`Every request carries about ${formatCompact(declared)} tokens of their definitions.`, columns),
    ...(waiting > 0
      ? wrapText(
          `Another ${formatCompact(waiting)} tokens are not loaded: the agent finds them with ToolSearch.`,
          columns,
        )
      : []),
  ]
}

const NO_SERVERS =
  "No MCP server is set up. Name them in .mcp.json of the project, or under mcpServers in the settings."

function describeState({ state, tools, prompts = 0, hasResources, declared, waiting }: ServerState): string {
  if (state !== "connected") return STATES[state]
  const more = [...(prompts > 0 ? [pluralize(prompts, "prompt")] : []), ...(hasResources ? ["resources"] : [])]
  return [`connected, ${pluralize(tools, "tool")}`, ...more, ...describeToolCost(declared, waiting)].join(", ")
}

function describeToolCost(declared: number, waiting: number): readonly string[] {
  const parts = declared > 0 ? [`${formatCompact(declared)} tokens in every request`] : []
  return waiting > 0 ? [...parts, `${formatCompact(waiting)} tokens not loaded`] : parts
}

const STATES: Readonly<Record<Exclude<Server["state"], "connected">, string>> = {
  starting: "starting; its tools join when it is ready",
  failed: "not available; your next message tries it again",
  "needs-sign-in": "needs sign-in",
  lost: "lost; the next call connects again",
  closed: "closed",
}
