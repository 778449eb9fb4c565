/** The page about background work of a project, live, and its stop buttons. Agents are stopped by the pages of their conversation. */
import type { Hono } from "hono"
import { shell } from "../draw/views/shell.ts"
import { workView } from "../draw/views/work.ts"
import type { WorkPages } from "../live/source.ts"
import { said, sent } from "./answers.ts"
import { eventsOf } from "./events.ts"

export interface WorkRoutes {
  readonly base: string
  readonly work: WorkPages
  readonly now: () => Date
}

export function addWork(routes: Hono, { base, work, now }: WorkRoutes): void {
  routes.get("/work", async (context) => {
    const main = workView({ base, work: await work.now(), now: now() })
    if (context.req.header("x-part") === "main") return sent(context, main)
    const trail = [{ words: "Background work", path: "/work" }]
    return sent(context, shell({ title: "Background work", base, trail, events: `${base}/work/events`, main }))
  })
  routes.get("/work/events", (context) => {
    let changes = 0
    return eventsOf(context, {
      state: () => ({ rows: changes }),
      onChange: (listener) =>
        work.onChange(() => {
          changes++
          listener()
        }),
    })
  })
  routes.post("/work/dream/stop", async (context) => {
    const answer = await work.stopDream()
    return said(
      context,
      answer.state === "asked" ? "The dream was asked to end. The memories stay as they were before it." : answer.why,
    )
  })
}
