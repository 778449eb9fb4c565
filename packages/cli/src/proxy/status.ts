/** `strata proxy --status`: the state of each proxy on this machine, read from the proxies themselves. */
import type { ConversationStatus } from "@strata/adapters/proxy"
import { formatCompact, formatDollarsOrUnknown, formatTimeAgo, pluralize } from "../display/numbers.ts"
import { table } from "../display/table.ts"
import type { Terminal } from "../display/terminal.ts"
import { escapeToLine, jsonForTerminal } from "../display/visible.ts"
import type { Announcement } from "./announcement.ts"
import { displayAddress } from "./upstream.ts"

const MAX_WIDTH = 160
const STATUS_TIMEOUT_MS = 5_000

interface ProxyStatus {
  readonly proxy: Announcement
  readonly conversations?: readonly ConversationStatus[]
  readonly problem?: string
}

interface StatusOptions {
  readonly terminal: Terminal
  readonly isJson: boolean
}

export async function printStatus(
  proxies: readonly Announcement[],
  { terminal, isJson }: StatusOptions,
): Promise<number> {
  const seen = await Promise.all(proxies.map(readStatus))
  if (isJson) terminal.print(`${jsonForTerminal({ proxies: seen.map(asJson) }, 2)}\n`)
  else if (seen.length === 0) terminal.print("No proxy runs. strata proxy or strata wrap starts one.\n")
  else terminal.print(`${seen.map((each) => page(each, terminal).join("\n")).join("\n\n")}\n`)
  return seen.some(({ problem }) => problem !== undefined) ? 1 : 0
}

async function readStatus(proxy: Announcement): Promise<ProxyStatus> {
  try {
    const answer = await fetch(`${proxy.url}/_strata/status`, { signal: AbortSignal.timeout(STATUS_TIMEOUT_MS) })
    if (!answer.ok) return { proxy, problem: `It answers with status ${answer.status}.` }
    return { proxy, ...((await answer.json()) as { conversations: readonly ConversationStatus[] }) }
  } catch {
    return { proxy, problem: "It does not answer." }
  }
}

/** The JSON output, without the secret. */
function asJson({ proxy: { url, upstream, ...proxy }, ...rest }: ProxyStatus) {
  return { ...proxy, port: portOf(url), upstream: displayAddress(upstream), ...rest }
}

const portOf = (url: string): number => Number(new URL(url).port)

function page({ proxy, conversations = [], problem }: ProxyStatus, { style, columns }: Terminal): readonly string[] {
  const { pid, url, upstream, cwd, mode, started } = proxy
  const since = formatTimeAgo(new Date(started), new Date())
  return [
    style.bold(`${displayAddress(url)} to ${displayAddress(upstream)}`),
    `${mode === "observe" ? "observes" : "manages"} ${escapeToLine(cwd)} · process ${pid} · started ${since}`,
    ...(problem === undefined ? [] : [problem]),
    ...(conversations.length === 0 && problem === undefined ? ["No conversation has passed yet."] : []),
    ...(conversations.length === 0 ? [] : statusTable(conversations, { style, width: Math.min(columns, MAX_WIDTH) })),
  ]
}

export function statusTable(
  rows: readonly ConversationStatus[],
  { style, width }: Pick<Terminal, "style"> & { readonly width: number },
): string[] {
  return table({
    width,
    titles: style.dim,
    columns: [
      { title: "conversation", gives: "end" },
      { title: "client", gives: "end", isMinor: true },
      { title: "requests", align: "right" },
      { title: "tokens", align: "right" },
      { title: "direct", align: "right" },
      { title: "cached", align: "right" },
      { title: "cost", align: "right" },
      { title: "direct", align: "right" },
      { title: "decisions", gives: "end", isMinor: true },
    ],
    rows: rows.map((row) => [
      escapeToLine(row.title === "" ? row.id : row.title),
      escapeToLine(row.client),
      String(row.requests),
      row.sent === 0 ? "" : formatCompact(row.sent),
      row.direct === 0 ? "" : formatCompact(row.direct),
      row.sent === 0 ? "" : `${Math.round(row.cacheRead * 100)}%`,
      formatDollarsOrUnknown(row.cost),
      formatDollarsOrUnknown(row.directCost),
      escapeToLine(
        [...row.decisions, ...(row.off === undefined ? [] : [`off: ${row.off}`]), ...describeTraffic(row)].join(", "),
      ),
    ]),
  })
}

const describeTraffic = ({ passedThrough }: ConversationStatus): readonly string[] =>
  passedThrough ? [`${pluralize(passedThrough.requests, "request")} passed untouched`] : []
