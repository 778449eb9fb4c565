/** Which page answers which address. A page is drawn here and sent as HTML; the script in it only asks for parts of it again. */

import { readFile } from "node:fs/promises"
import { stripTypeScriptTypes } from "node:module"
import { type ProjectBank, StrataError } from "@strata/core"
import { Hono } from "hono"
import type { LookPages, PageSource, WorkPages } from "../live/source.ts"
import { PAGE_STYLE } from "../render/page-style.ts"
import { conversationsView } from "../render/views/conversations.ts"
import { type ListAsked, lookView, ROWS_ON_PAGE } from "../render/views/look.ts"
import { changeView, memoriesView } from "../render/views/memories.ts"
import { empty, shell } from "../render/views/shell.ts"
import { workView } from "../render/views/work.ts"
import { LIST_ORDERS, type LookReport } from "../usage/report-data.ts"
import { isPictureReady, sharePicture } from "../usage/share.ts"
import { said, sent } from "./answers.ts"
import { addConversation, type Conversations } from "./conversation-routes.ts"
import type { Doors } from "./doors.ts"
import { eventsOf } from "./events.ts"

/** Strata's mark: layers. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#14171a"/><path d="M5 10h22v3H5z" fill="#8fd0f5"/><path d="M5 15h22v3H5z" fill="#2fb58a"/><path d="M5 20h22v3H5z" fill="#f0b429"/></svg>`

// The page about all conversations of this machine.

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
      "content-disposition": 'attachment; filename="strata-usage.svg"',
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

// The memories of a project: what is remembered, each change as a diff, forgetting, and taking a change back.

export interface MemoryPages {
  readonly base: string
  readonly memories: () => Promise<ProjectBank>
  readonly now: () => Date
}

export function addMemories(routes: Hono, { base, memories, now }: MemoryPages): void {
  routes.get("/memories", async (context) => {
    const bank = await memories()
    const [all, history, problems] = await Promise.all([bank.all(), bank.history(), bank.problems()])
    const main = memoriesView({ base, memories: all, history, problems, now: now() })
    return sent(context, shell({ title: "Memories", base, trail: [{ words: "Memories", path: "/memories" }], main }))
  })
  routes.get("/memories/changes/:id", async (context) => {
    const bank = await memories()
    const change = (await bank.history()).find(({ id }) => id === context.req.param("id"))
    if (!change) return context.notFound()
    const main = changeView({ base, change, diff: await bank.diff(change.id) })
    const trail = [{ words: "Memories", path: "/memories" }]
    return sent(context, shell({ title: `Change ${change.id}`, base, trail, main }))
  })
  routes.post("/memories/forget", async (context) => {
    const bank = await memories()
    const memory = (await bank.all()).find(({ file }) => file === context.req.query("file"))
    if (!memory) return said(context, "This memory is gone already. Nothing was changed.")
    if (await bank.isCommandRunning()) return said(context, COMMAND_RUNS)
    const change = await bank.change({ by: "person", why: "Forgotten on the page", removals: [memory.file] })
    return said(
      context,
      change ? `“${memory.name}” is forgotten. The history has it as change ${change.id}.` : "It is gone already.",
    )
  })
  routes.post("/memories/revert", async (context) => {
    const bank = await memories()
    const change = (await bank.history()).find(({ id }) => id === context.req.query("change"))
    if (!change) return said(context, "There is no such change. Nothing was changed.")
    if (await bank.isCommandRunning()) return said(context, COMMAND_RUNS)
    const reverted = await bank.revert(change.id, { by: "person", why: "Taken back on the page" })
    return said(
      context,
      reverted ? `Change ${change.id} is taken back, as change ${reverted.id}.` : "It is taken back already.",
    )
  })
}

const COMMAND_RUNS =
  "An agent is running a command in this project, and it must not speak for you. Nothing was changed. Wait for its end."

// The scripts of the pages, for the browser. From sources they are TypeScript with its types taken out, one file each, so nothing has to be
// built. In a published package the build has put them here as text.

const NAMES: ReadonlySet<string> = new Set(["page", "live", "rows", "chart", "actions"])
/** Filled by the build. */
const BUILT: Readonly<Record<string, string>> = {}

export async function scriptNamed(file: string): Promise<string | undefined> {
  const name = file.replace(/\.js$/, "")
  if (!NAMES.has(name)) return undefined
  return BUILT[name] ?? fromSource(name)
}

async function fromSource(name: string): Promise<string> {
  const source = await readFile(new URL(`../client/${name}.ts`, import.meta.url), "utf8")
  return withoutTypes(source).replace(/(from "\.\/\w+)\.ts"/g, '$1.js"')
}

/** Node warns that this is new. The person who opens a page can do nothing about it. */
function withoutTypes(source: string): string {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return stripTypeScriptTypes(source)
  } finally {
    process.emitWarning = emitWarning
  }
}

// The page about background work of a project, live, and its stop buttons. Agents are stopped by the pages of their conversation.

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
