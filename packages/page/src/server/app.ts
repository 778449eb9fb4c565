/** Which page answers which address. A page is drawn here and sent as HTML; the script in it only asks for parts of it again. */
import { StrataError } from "@strata/core"
import { Hono } from "hono"
import { PAGE_STYLE } from "../draw/page-style.ts"
import { conversationsView } from "../draw/views/conversations.ts"
import { empty, shell } from "../draw/views/shell.ts"
import type { PageSource } from "../live/source.ts"
import { sent } from "./answers.ts"
import { addConversation, type Conversations } from "./conversation-routes.ts"
import type { Doors } from "./doors.ts"
import { ICON } from "./icon.ts"
import { addLook } from "./look-routes.ts"
import { addMemories } from "./memory-routes.ts"
import { scriptNamed } from "./scripts.ts"
import { addWork } from "./work-routes.ts"

export interface App {
  readonly source: PageSource
  readonly doors: Doors
  readonly conversations: Conversations
  readonly now: () => Date
  /** Learns of errors that are ours. The person at the page gets a sentence. */
  readonly onFault: (error: unknown) => void
}

export function pageApp(app: App): Hono {
  const { source, doors, now, onFault } = app
  const { base, check } = doors
  const routes = new Hono({ strict: false }).basePath(base)
  routes.use(check)
  routes.get("/style.css", (context) => context.body(PAGE_STYLE, 200, { "content-type": "text/css; charset=utf-8" }))
  routes.get("/icon.svg", (context) => context.body(ICON, 200, { "content-type": "image/svg+xml" }))
  routes.get("/script/:name", async (context) => {
    const script = await scriptNamed(context.req.param("name"))
    if (script === undefined) return context.notFound()
    return context.body(script, 200, { "content-type": "text/javascript; charset=utf-8" })
  })
  if (source.look) addLook(routes, { base, look: source.look, now })
  else
    routes.get("/", async (context) => {
      const main = conversationsView({
        base,
        name: source.name,
        conversations: await source.conversations(),
        hasMemories: source.memories !== undefined,
        hasWork: source.work !== undefined,
        now: now(),
      })
      return sent(context, shell({ title: source.name, base, trail: [], main }))
    })
  if (source.work) addWork(routes, { base, work: source.work, now })
  if (source.memories) addMemories(routes, { base, memories: source.memories, now })
  addConversation(routes, {
    ...{ base, conversations: app.conversations, now, onFault },
    beside: [
      ...(source.memories ? [{ words: "Memories", path: "/memories" }] : []),
      ...(source.work ? [{ words: "Work", path: "/work" }] : []),
    ],
  })
  const outer = new Hono({ strict: false })
  outer.route("/", routes)
  outer.use(check)
  outer.notFound((context) =>
    sent(
      context,
      shell({
        title: "Not found",
        base,
        trail: [],
        main: empty("There is no such page.", "Go back to the start with the link at the top."),
      }),
      404,
    ),
  )
  outer.onError((error, context) => {
    if (!(error instanceof StrataError)) onFault(error)
    const why =
      error instanceof StrataError
        ? error.message
        : "The page cannot be drawn, because of a fault in Strata. Nothing was changed."
    return sent(
      context,
      shell({ title: "Failed", base, trail: [], main: empty(why, "Load the page again, or go back to the start.") }),
      500,
    )
  })
  return outer
}
