/** The page about all conversations of this machine. */
import type { Hono } from "hono"
import { type ListAsked, lookView, ROWS_ON_PAGE } from "../draw/views/look.ts"
import { shell } from "../draw/views/shell.ts"
import type { LookPages } from "../live/source.ts"
import { LIST_ORDERS, type LookReport } from "../look/report-data.ts"
import { isPictureReady, sharePicture } from "../look/share.ts"
import { sent } from "./answers.ts"
import { eventsOf } from "./events.ts"

export interface LookRoutes {
  readonly base: string
  readonly look: LookPages
  readonly now: () => Date
}

export function addLook(routes: Hono, { base, look, now }: LookRoutes): void {
  let report: LookReport | undefined // adding up takes longer than drawing, and most pages ask for the same
  let changes = 0
  look.onChange(() => {
    report = undefined
    changes++
  })
  routes.get("/", async (context) => {
    const asked = askedFor((name) => context.req.query(name))
    const { query, sort, page, project } = asked
    report ??= look.report()
    const list = look.list({
      ...(query === "" ? {} : { query }),
      ...(sort === "" ? {} : { sort }),
      ...(project === "" ? {} : { project }),
      offset: page * ROWS_ON_PAGE,
      limit: ROWS_ON_PAGE,
    })
    const [gone, working] = [await look.gone(), look.working()]
    const main = lookView({
      ...{ base, report, list, asked, now: now() },
      ...(gone ? { gone } : {}),
      ...(working === undefined ? {} : { working }),
    })
    if (context.req.header("x-part") === "main") return sent(context, main)
    return sent(context, shell({ title: "All conversations", base, trail: [], events: `${base}/events`, main }))
  })
  routes.get("/picture.svg", (context) => {
    report ??= look.report()
    if (!isPictureReady(report))
      return context.text("What Strata would have saved is not known yet. Try again later.", 409)
    return context.body(sharePicture(report), 200, {
      "content-type": "image/svg+xml",
      "content-disposition": 'attachment; filename="strata-look.svg"',
    })
  })
  routes.get("/events", (context) =>
    eventsOf(context, { state: () => ({ rows: changes }), onChange: (listener) => look.onChange(listener) }),
  )
}

/** What the form of the list says. Anything else is left out. */
function askedFor(given: (name: string) => string | undefined): ListAsked {
  const page = given("page") ?? ""
  return {
    query: (given("q") ?? "").slice(0, 500),
    sort: LIST_ORDERS.find((order) => order === given("sort")) ?? "",
    page: /^\d{1,6}$/.test(page) ? Number(page) : 0,
    project: given("project") ?? "",
  }
}
