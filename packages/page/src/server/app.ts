/** Which page answers which address. A page is drawn here and sent as HTML; the script in it only asks for parts of it again. */
import { StrataError } from "@strata/core"
import { Hono } from "hono"
import { PAGE_STYLE } from "../draw/page-style.ts"
import { conversationsView } from "../draw/views/conversations.ts"
import { changeView, memoriesView } from "../draw/views/memories.ts"
import { empty, shell } from "../draw/views/shell.ts"
import type { PageSource } from "../live/source.ts"
import { said, sent } from "./answers.ts"
import { addConversation, type Conversations } from "./conversation-routes.ts"
import type { Doors } from "./doors.ts"
import { ICON } from "./icon.ts"
import { addLook } from "./look-routes.ts"
import { scriptNamed } from "./scripts.ts"
import { addWork } from "./work-routes.ts"

export interface App {
  readonly source: PageSource
  readonly doors: Doors
  readonly conversations: Conversations
  readonly now: () => Date
}

export function pageApp(app: App): Hono {
  const { source, doors, now } = app
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
  routes.get("/memories", async (context) => {
    const bank = await source.memories?.()
    if (!bank) return context.notFound()
    const [memories, history, problems] = await Promise.all([bank.all(), bank.history(), bank.problems()])
    const main = memoriesView({ base, memories, history, problems, now: now() })
    return sent(context, shell({ title: "Memories", base, trail: [{ words: "Memories", path: "/memories" }], main }))
  })
  routes.get("/memories/changes/:id", async (context) => {
    const bank = await source.memories?.()
    const change = (await bank?.history())?.find(({ id }) => id === context.req.param("id"))
    if (!bank || !change) return context.notFound()
    const main = changeView({ base, change, diff: await bank.diff(change.id) })
    const trail = [{ words: "Memories", path: "/memories" }]
    return sent(context, shell({ title: `Change ${change.id}`, base, trail, main }))
  })
  routes.post("/memories/forget", async (context) => {
    const bank = await source.memories?.()
    const memory = (await bank?.all())?.find(({ file }) => file === context.req.query("file"))
    if (!bank || !memory) return said(context, "This memory is gone already. Nothing was changed.")
    if (await bank.isCommandRunning()) return said(context, COMMAND_RUNS)
    const change = await bank.change({ by: "person", why: "Forgotten on the page", removals: [memory.file] })
    return said(
      context,
      change ? `“${memory.name}” is forgotten. The history has it as change ${change.id}.` : "It is gone already.",
    )
  })
  routes.post("/memories/revert", async (context) => {
    const bank = await source.memories?.()
    const change = (await bank?.history())?.find(({ id }) => id === context.req.query("change"))
    if (!bank || !change) return said(context, "There is no such change. Nothing was changed.")
    if (await bank.isCommandRunning()) return said(context, COMMAND_RUNS)
    const reverted = await bank.revert(change.id, { by: "person", why: "Taken back on the page" })
    return said(
      context,
      reverted ? `Change ${change.id} is taken back, as change ${reverted.id}.` : "It is taken back already.",
    )
  })
  addConversation(routes, {
    ...{ base, conversations: app.conversations },
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

const COMMAND_RUNS =
  "An agent is running a command in this project, and it must not speak for you. Nothing was changed. Wait for its end."
