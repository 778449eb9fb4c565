/** Routes of the server. Pages are rendered here and sent as HTML; their script only requests updated parts. */

import { readFile } from "node:fs/promises"
import { stripTypeScriptTypes } from "node:module"
import { type ProjectBank, StrataError } from "@strata/core"
import { Hono } from "hono"
import type { PageSource, WorkPages } from "../live/source.ts"
import { PAGE_STYLE } from "../render/page-style.ts"
import { changeView, memoriesView } from "../render/views/memories.ts"
import { emptyState, shell } from "../render/views/shell.ts"
import { workView } from "../render/views/work.ts"
import type { PageAccess } from "./access.ts"
import { addConversationRoutes, type Conversations } from "./conversation-routes.ts"
import { streamEvents } from "./events.ts"
import { addListRoutes } from "./list-routes.ts"
import { respondWithPage, respondWithText } from "./responses.ts"
import { addUsageRoutes } from "./usage-routes.ts"

/** Strata's logo: layers. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#14171a"/><path d="M5 10h22v3H5z" fill="#8fd0f5"/><path d="M5 15h22v3H5z" fill="#2fb58a"/><path d="M5 20h22v3H5z" fill="#f0b429"/></svg>`

// The memories of a project: the list, changes as diffs, forgetting, and reverting changes.

export interface MemoryRoutes {
  readonly base: string
  readonly memories: () => Promise<ProjectBank>
  readonly now: () => Date
}

export function addMemoryRoutes(routes: Hono, { base, memories, now }: MemoryRoutes): void {
  routes.get("/memories", async (context) => {
    const bank = await memories()
    const [all, history, problems] = await Promise.all([bank.all(), bank.history(), bank.problems()])
    const main = memoriesView({ base, memories: all, history, problems, now: now() })
    return respondWithPage(
      context,
      shell({ title: "Memories", base, trail: [{ words: "Memories", path: "/memories" }], main }),
    )
  })
  routes.get("/memories/changes/:id", async (context) => {
    const bank = await memories()
    const change = (await bank.history()).find(({ id }) => id === context.req.param("id"))
    if (!change) return context.notFound()
    const main = changeView({ base, change, diff: await bank.diff(change.id) })
    const trail = [{ words: "Memories", path: "/memories" }]
    return respondWithPage(context, shell({ title: `Change ${change.id}`, base, trail, main }))
  })
  routes.post("/memories/forget", async (context) => {
    const bank = await memories()
    const memory = (await bank.all()).find(({ file }) => file === context.req.query("file"))
    if (!memory) return respondWithText(context, "This memory no longer exists. Nothing was changed.")
    if (await bank.isCommandRunning()) return respondWithText(context, COMMAND_IS_RUNNING)
    const change = await bank.change({ by: "person", why: "Forgotten on the page", removals: [memory.file] })
    return respondWithText(
      context,
      change ? `“${memory.name}” is forgotten. The history has it as change ${change.id}.` : "It no longer exists.",
    )
  })
  routes.post("/memories/revert", async (context) => {
    const bank = await memories()
    const change = (await bank.history()).find(({ id }) => id === context.req.query("change"))
    if (!change) return respondWithText(context, "This change does not exist. Nothing was changed.")
    if (await bank.isCommandRunning()) return respondWithText(context, COMMAND_IS_RUNNING)
    const reverted = await bank.revert(change.id, { by: "person", why: "Taken back on the page" })
    return respondWithText(
      context,
      reverted ? `Change ${change.id} was reverted as change ${reverted.id}.` : "It has already been reverted.",
    )
  })
}

const COMMAND_IS_RUNNING =
  "An agent is running a command in this project, and it must not speak for you. Nothing was changed. Wait for its end."

// The browser scripts of the pages. From sources they are TypeScript files whose types are stripped, so that no build is needed. In a
// published package the build inserts them here as text.

const SCRIPT_NAMES: ReadonlySet<string> = new Set(["page", "live", "rows", "chart", "actions"])
/** Filled by the build. */
const BUILT_SCRIPTS: Readonly<Record<string, string>> = {}

export async function readScript(file: string): Promise<string | undefined> {
  const name = file.replace(/\.js$/, "")
  if (!SCRIPT_NAMES.has(name)) return undefined
  return BUILT_SCRIPTS[name] ?? readScriptSource(name)
}

async function readScriptSource(name: string): Promise<string> {
  const source = await readFile(new URL(`../client/${name}.ts`, import.meta.url), "utf8")
  return stripTypes(source).replace(/(from "\.\/\w+)\.ts"/g, '$1.js"')
}

/** Strips types without Node's warning about an experimental feature, which users of the page cannot act on. */
function stripTypes(source: string): string {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return stripTypeScriptTypes(source)
  } finally {
    process.emitWarning = emitWarning
  }
}

// The live page about background work of a project, with stop buttons. Agents are stopped through the pages of their conversation.

export interface WorkRoutes {
  readonly base: string
  readonly work: WorkPages
  readonly now: () => Date
}

export function addWorkRoutes(routes: Hono, { base, work, now }: WorkRoutes): void {
  routes.get("/work", async (context) => {
    const main = workView({ base, work: await work.now(), now: now() })
    if (context.req.header("x-part") === "main") return respondWithPage(context, main)
    const trail = [{ words: "Background work", path: "/work" }]
    return respondWithPage(
      context,
      shell({ title: "Background work", base, trail, events: `${base}/work/events`, main }),
    )
  })
  routes.get("/work/events", (context) => {
    let changes = 0
    return streamEvents(context, {
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
    return respondWithText(
      context,
      answer.state === "asked" ? "The dream was asked to stop. The memories stay unchanged." : answer.why,
    )
  })
}

export interface PageAppOptions {
  readonly source: PageSource
  readonly access: PageAccess
  readonly conversations: Conversations
  readonly now: () => Date
  /** Receives internal errors. The user sees a sentence on the page. */
  readonly onFault: (error: unknown) => void
}

export function pageApp(app: PageAppOptions): Hono {
  const { source, access, now, onFault } = app
  const { base, check } = access
  const routes = new Hono({ strict: false }).basePath(base)
  routes.use(check)
  routes.get("/style.css", (context) => context.body(PAGE_STYLE, 200, { "content-type": "text/css; charset=utf-8" }))
  routes.get("/icon.svg", (context) => context.body(ICON, 200, { "content-type": "image/svg+xml" }))
  routes.get("/script/:name", async (context) => {
    const script = await readScript(context.req.param("name"))
    if (script === undefined) return context.notFound()
    return context.body(script, 200, { "content-type": "text/javascript; charset=utf-8" })
  })
  if (source.usage) addUsageRoutes(routes, { base, usage: source.usage, now })
  else addListRoutes(routes, { base, source, now })
  if (source.work) addWorkRoutes(routes, { base, work: source.work, now })
  if (source.memories) addMemoryRoutes(routes, { base, memories: source.memories, now })
  addConversationRoutes(routes, {
    ...{ base, conversations: app.conversations, now, onFault },
    projectLinks: [
      ...(source.memories ? [{ label: "Memories", path: "/memories" }] : []),
      ...(source.work ? [{ label: "Work", path: "/work" }] : []),
    ],
  })
  const outer = new Hono({ strict: false })
  outer.route("/", routes)
  outer.use(check)
  outer.notFound((context) =>
    respondWithPage(
      context,
      shell({
        title: "Not found",
        base,
        trail: [],
        main: emptyState("This page does not exist.", "Go back to the start with the link at the top."),
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
    return respondWithPage(
      context,
      shell({
        title: "Failed",
        base,
        trail: [],
        main: emptyState(why, "Load the page again, or go back to the start."),
      }),
      500,
    )
  })
  return outer
}
