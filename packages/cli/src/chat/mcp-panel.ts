/** `/mcp`: each MCP server with its state, what it offers and what its tools cost in every request. `/mcp login NAME` signs in to one. */
import { escaped } from "@strata/core/internal/base/escaped-text"
import { isDeferred, nameOf } from "@strata/core/internal/messages/tool-references"
import { createEstimator } from "@strata/core/internal/tokens/estimate"
import { toolDefinition } from "@strata/core/internal/tools/definition/definition"
import { counted, short } from "../display/numbers.ts"
import type { SessionAgent } from "../session.ts"
import { openInBrowser } from "./browser.ts"
import type { CommandTarget } from "./command-target.ts"

type Server = SessionAgent["servers"][number]

export interface ServerPicture extends Pick<Server, "name" | "state" | "why"> {
  readonly tools: number
  readonly prompts?: number
  readonly hasResources?: boolean
  /** Of the definitions that every request carries. */
  readonly declared: number
  /** Of the definitions that are not loaded. */
  readonly waiting: number
}

export async function mcp(target: CommandTarget, argument: string): Promise<void> {
  const [verb, name] = argument.trim().split(/\s+(.*)/s)
  if (!verb) return showMcp(target)
  if (verb !== "login" || !name) return target.notice("Type /mcp to see the servers, or /mcp login NAME to sign in.")
  await signIn(target, name)
}

async function signIn(target: CommandTarget, name: string): Promise<void> {
  const server = target.agent.servers.find((one) => one.name === name)
  if (!server) return target.notice(`There is no MCP server named ${escaped(name)}. /mcp lists them.`)
  if (!server.signIn) return target.notice(`The MCP server ${escaped(name)} offers no sign-in. /mcp shows its state.`)
  await server.signIn({ visit: (address, signal) => visit(target, { name, address, signal }) })
  target.notice(`Signed in to ${escaped(name)}. Its tools join with your next message.`)
}

interface Visit {
  readonly name: string
  readonly address: string
  readonly signal: AbortSignal
}

/** The browser may run on another machine: then the person pastes the address of the page that it cannot open. */
async function visit(target: CommandTarget, { name, address, signal }: Visit): Promise<string | undefined> {
  const title = `Sign in to ${escaped(name)}`
  const { host } = new URL(address)
  signal.addEventListener("abort", () => target.dismiss(title), { once: true })
  target.notice(`To sign in to ${escaped(name)}, open this address at ${host}:\n${address}`)
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

async function showMcp(target: CommandTarget): Promise<void> {
  const { servers, conversation } = target.agent
  const { prompt, family } = conversation.views.context
  const offered = (Array.isArray(prompt?.tools) ? prompt.tools : []) as Parameters<typeof nameOf>[0][]
  const declared = new Set(offered.filter((tool) => !isDeferred(tool)).map(nameOf))
  const isStarted = prompt !== undefined // before the first request nothing is decided
  const { text: estimate } = createEstimator(family)
  const pictures = servers.map(async ({ name, state, why, tools, prompts, resources }): Promise<ServerPicture> => {
    const sized = await Promise.all(
      tools.map(async (tool) => ({
        isDeclared: !isStarted || declared.has(tool.name),
        tokens: estimate(JSON.stringify(await toolDefinition(tool))),
      })),
    )
    const sum = (isDeclared: boolean) =>
      sized.reduce((total, tool) => total + (tool.isDeclared === isDeclared ? tool.tokens : 0), 0)
    return {
      ...{ name, state, tools: tools.length, declared: sum(true), waiting: sum(false) },
      ...(why === undefined ? {} : { why }),
      ...{ prompts: prompts?.length ?? 0, hasResources: resources !== undefined },
    }
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

function stateOf({ state, tools, prompts = 0, hasResources, declared, waiting }: ServerPicture): string {
  if (state !== "connected") return STATES[state]
  const more = [...(prompts > 0 ? [counted(prompts, "prompt")] : []), ...(hasResources ? ["resources"] : [])]
  return [`connected, ${counted(tools, "tool")}`, ...more, ...costOf(declared, waiting)].join(", ")
}

function costOf(declared: number, waiting: number): readonly string[] {
  const parts = declared > 0 ? [`${short(declared)} tokens in every request`] : []
  return waiting > 0 ? [...parts, `${short(waiting)} tokens not loaded`] : parts
}

const STATES: Readonly<Record<Exclude<Server["state"], "connected">, string>> = {
  starting: "starting; its tools join when it is ready",
  failed: "not available; your next message tries it again",
  "needs-sign-in": "needs sign-in",
  lost: "lost; the next call connects again",
  closed: "closed",
}
