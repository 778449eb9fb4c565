/** `/status`: model, mode, cost, MCP servers and sandbox of this conversation. */
import { type Sandbox, sandboxSentence, systemSandbox } from "@strata/core/agent"
import { internalsOf } from "@strata/core/conversation"
import { ledgerOf } from "../display/ledger.ts"
import { formatCompact, formatDollars, pluralize } from "../display/numbers.ts"
import { escapeToLine } from "../display/visible.ts"
import type { Environment } from "../session-options.ts"
import { version } from "../version.ts"
import type { CommandTarget } from "./command-target.ts"
import { hanging } from "./panels.ts"

export async function showStatus(target: CommandTarget): Promise<void> {
  const { agent, place } = target
  const { conversation } = agent
  const { used, percentLeft } = conversation.windowUsage()
  const { dollars: spent, unpriced, requests } = ledgerOf(conversation)
  const title = internalsOf(conversation).views.context.session?.title
  const status: StatusPanelState = {
    ...{ version: version(), id: conversation.id, model: agent.model.name, mode: agent.mode },
    ...(title === undefined ? {} : { title }),
    journal: conversation.location,
    directory: agent.shared.state.directory,
    tokens: { used, limit: conversation.thresholds.limit, percentLeft },
    cost: { dollars: spent, requests, isIncomplete: unpriced.length > 0 },
    servers: agent.servers,
    env: place.env,
    sandbox: await systemSandbox(),
    settings: conversation.settings.values,
  }
  target.print("Status", (columns) => statusLines(status, columns))
}

export interface StatusPanelState {
  readonly version: string
  readonly id: string
  readonly title?: string
  readonly model: string
  readonly mode: string
  /** Path of the journal. */
  readonly journal: string
  readonly directory: string
  readonly tokens: { readonly used: number; readonly limit: number; readonly percentLeft: number }
  readonly cost: { readonly dollars: number; readonly requests: number; readonly isIncomplete: boolean }
  readonly servers: readonly { readonly name: string; readonly state: string }[]
  readonly env: Environment
  readonly sandbox: Sandbox
  readonly settings: { readonly sandbox: Parameters<typeof sandboxSentence>[0] }
}

export function statusLines(status: StatusPanelState, columns: number): readonly string[] {
  const { title, tokens, cost } = status
  return hanging(
    [
      ["version", status.version],
      ["conversation", `${status.id}${title === undefined ? "" : ` (${title})`}`],
      ["journal", status.journal],
      ["directory", status.directory],
      ["model", status.model],
      ["mode", status.mode],
      ["tokens", `${formatCompact(tokens.used)} of ${formatCompact(tokens.limit)}, ${tokens.percentLeft}% left`],
      [
        "cost",
        `${cost.isIncomplete ? "more than " : ""}${formatDollars(cost.dollars)} for ${pluralize(cost.requests, "request")}`,
      ],
      ["signed in", describeSignIn(status.env)],
      ["MCP servers", describeServers(status.servers)],
      ["sandbox", sandboxSentence(status.settings.sandbox, status.sandbox)],
    ],
    { columns },
  )
}

/** Names the variable that the key comes from, never the key. */
function describeSignIn(env: Environment): string {
  const by = env.ANTHROPIC_AUTH_TOKEN
    ? "with ANTHROPIC_AUTH_TOKEN"
    : env.ANTHROPIC_API_KEY
      ? "with ANTHROPIC_API_KEY"
      : "without a key"
  const address = env.ANTHROPIC_BASE_URL
  return address && URL.canParse(address) ? `${by}, at ${new URL(address).host}` : by
}

function describeServers(servers: StatusPanelState["servers"]): string {
  if (servers.length === 0) return "none set up"
  return servers.map(({ name, state }) => `${escapeToLine(name)} (${state})`).join(", ")
}
