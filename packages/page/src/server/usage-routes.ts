/** The pages about all conversations of this machine: an overview, and one page for each of its parts. */
import type { Context, Hono } from "hono"
import type { UsagePages } from "../live/source.ts"
import { html, type Markup } from "../render/markup.ts"
import { shell } from "../render/views/shell.ts"
import { usageView } from "../render/views/usage.ts"
import { usageConversationsView, usageProjectsView } from "../render/views/usage-conversations.ts"
import {
  usageAgentsView,
  usageCachesView,
  usageCompactionsView,
  usageContextView,
} from "../render/views/usage-details.ts"
import { createOverview } from "../usage/overview.ts"
import type { UsageReport } from "../usage/report-data.ts"
import { isPictureReady, sharePicture } from "../usage/share.ts"
import { streamEvents } from "./events.ts"
import { respondWithPage } from "./responses.ts"

export interface UsageRoutes {
  readonly base: string
  readonly usage: UsagePages
  readonly now: () => Date
}

const MAX_EXPENSIVE = 5
const MAX_LOST = 10

interface UsagePage {
  readonly path: string
  readonly label: string
  readonly main: (report: UsageReport, search: URLSearchParams) => Markup | Promise<Markup>
}

export function addUsageRoutes(routes: Hono, { base, usage, now }: UsageRoutes): void {
  let cached: UsageReport | undefined // computing takes longer than rendering, and most pages need the same report
  let changes = 0
  usage.onChange(() => {
    cached = undefined
    changes++
  })
  const report = () => (cached ??= usage.report())
  const pages = usagePages({ base, usage, now })
  for (const { path, label, main } of pages)
    routes.get(path, async (context) => {
      const shown = await main(report(), new URL(context.req.url).searchParams)
      const content = path === "/" ? shown : html`<h1 class="quiet">${label}</h1>${shown}`
      if (context.req.header("x-part") === "main") return respondWithPage(context, content)
      const views = pages.map((page) => ({ label: page.label, path: page.path, isCurrent: page.path === path }))
      return respondWithPage(
        context,
        shell({ title: `Usage: ${label}`, base, trail: [], views, events: `${base}/events`, main: content }),
      )
    })
  routes.get("/picture.svg", (context) => respondWithPicture(context, report()))
  routes.get("/events", (context) =>
    streamEvents(context, { state: () => ({ rows: changes }), onChange: (listener) => usage.onChange(listener) }),
  )
}

function usagePages({ base, usage, now }: UsageRoutes): readonly UsagePage[] {
  const list: UsagePages["list"] = (request) => usage.list(request)
  const overview = async (report: UsageReport) => {
    const { rows } = list({ sort: "cost", limit: MAX_EXPENSIVE })
    const [mostLost] = list({ sort: "lost", limit: 1 }).rows
    const [deletedSessions, progress] = [await usage.findDeletedSessions(), usage.progress()]
    return usageView({
      ...{ base, report, rows, now: now() },
      overview: createOverview({ report, mostExpensive: rows[0], mostLost, strata: usage.strata }),
      ...(deletedSessions ? { deletedSessions } : {}),
      ...(progress === undefined ? {} : { progress }),
    })
  }
  return [
    { path: "/", label: "Overview", main: overview },
    {
      ...{ path: "/conversations", label: "Conversations" },
      main: (report, search) => usageConversationsView({ base, report, search, list, now: now() }),
    },
    {
      ...{ path: "/caches", label: "Caches" },
      main: (report) => usageCachesView({ base, report, rows: list({ sort: "lost", limit: MAX_LOST }).rows }),
    },
    { path: "/compactions", label: "Compactions", main: (report) => usageCompactionsView({ base, report }) },
    { path: "/projects", label: "Projects", main: (report, search) => usageProjectsView({ base, report, search }) },
    { path: "/context", label: "Tools and prompt", main: (report) => usageContextView({ base, report }) },
    { path: "/agents", label: "Agents", main: (report) => usageAgentsView({ base, report }) },
  ]
}

function respondWithPicture(context: Context, report: UsageReport): Response {
  if (!isPictureReady(report))
    return context.text("What Strata would have saved is not known yet. Try again later.", 409)
  return context.body(sharePicture(report), 200, {
    "content-type": "image/svg+xml",
    "content-disposition": 'attachment; filename="strata-usage.svg"',
  })
}
