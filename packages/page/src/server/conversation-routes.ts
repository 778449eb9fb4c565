/** The pages of one conversation: its views, slices of rows, blocks, search, live events, and the user's actions. */
import { ConversationLockedError, handleOf, StrataError } from "@strata/core"
import { escapeForTerminal, pluralize } from "@strata/core/base"
import type { Context, Hono } from "hono"
import { planRows } from "../labels/compaction-plan.ts"
import { describeUndo } from "../labels/undo.ts"
import { type LoadedConversation, searchConversation } from "../live/find.ts"
import { blockText, entryBlocks } from "../live/rows.ts"
import { html, type Markup } from "../render/markup.ts"
import { agentsView } from "../render/views/agents.ts"
import { cacheView } from "../render/views/cache.ts"
import { compactionsView, planMarkup } from "../render/views/compactions.ts"
import { contextView } from "../render/views/context.ts"
import { messagesView } from "../render/views/messages.ts"
import { moneyView } from "../render/views/money.ts"
import { rowsMarkup, searchHitsMarkup } from "../render/views/rows.ts"
import { emptyState, shell, type ViewLink } from "../render/views/shell.ts"
import { streamEvents } from "./events.ts"
import { respondWithPage, respondWithText } from "./responses.ts"

/** Opens conversations for pages. */
export interface Conversations {
  open(id: string): Promise<LoadedConversation | undefined>
}

const VIEWS = ["context", "messages", "compactions", "cache", "money", "agents"] as const
type View = (typeof VIEWS)[number]
const VIEW_LABELS: Readonly<Record<View, string>> = {
  context: "Context",
  messages: "Conversation",
  compactions: "Compactions",
  cache: "Cache",
  money: "Money",
  agents: "Agents",
}

const MAX_ROWS = 100 // in one response

export interface ConversationRoutes {
  readonly base: string
  readonly conversations: Conversations
  /** Links to pages of the project, shown after the views of the conversation. */
  readonly projectLinks: readonly Omit<ViewLink, "isCurrent">[]
  readonly now: () => Date
  /** Receives internal errors. */
  readonly onFault: (error: unknown) => void
}

export function addConversationRoutes(routes: Hono, pages: ConversationRoutes): void {
  const { base, conversations, projectLinks, now } = pages
  const opened = async (context: Context) => conversations.open(context.req.param("id") ?? "")

  routes.get("/c/:id", (context) =>
    context.redirect(`${base}/c/${encodeURIComponent(context.req.param("id"))}/context`, 302),
  )

  routes.get("/c/:id/rows", async (context) => {
    const found = await opened(context)
    if (!found) return context.notFound()
    const { named, live } = found
    const from = wholeNumber(context.req.query("from"))
    const count = Math.min(MAX_ROWS, wholeNumber(context.req.query("count"), MAX_ROWS))
    const rows = live.rows.slice(from, from + count)
    return respondWithPage(context, rowsMarkup(rows, { base, conversation: named.id }))
  })

  routes.get("/c/:id/place", async (context) => {
    const found = await opened(context)
    const handle = context.req.query("handle") ?? ""
    const at = found?.live.rows.findIndex((row) => row.handle === handle) ?? -1
    return context.json({ at })
  })

  routes.get("/c/:id/block/:uuid/:at", async (context) => {
    const found = await opened(context)
    const entry = found?.live.find(context.req.param("uuid"))
    if (!entry) return context.notFound()
    const at = context.req.param("at")
    const blocks = entryBlocks(entry)
    const shown = at === "all" ? blocks : blocks.slice(wholeNumber(at), wholeNumber(at) + 1)
    const text = shown.map(blockText).join("\n")
    if (context.req.query("exact") === undefined) return context.text(escapeForTerminal(text))
    return context.body(text, 200, {
      "content-type": "application/octet-stream",
      "content-disposition": `attachment; filename="${handleOf(entry.uuid).replace(/\W/g, "")}.txt"`,
    })
  })

  routes.get("/c/:id/find", async (context) => {
    const found = await opened(context)
    const query = context.req.query("words")?.trim() ?? ""
    if (!found || query === "") return respondWithPage(context, html``)
    const hits = await searchConversation(found, query)
    if (hits.length === 0) return respondWithText(context, "Nothing in this conversation has these words.")
    return respondWithPage(
      context,
      html`<p>${pluralize(hits.length, "message")} found, best first.</p>${searchHitsMarkup(hits)}`,
    )
  })

  routes.get("/c/:id/events", async (context) => {
    const found = await opened(context)
    if (!found) return context.notFound()
    const { live } = found
    return streamEvents(context, {
      state: () => ({ rows: live.rows.length }),
      onChange: (listener) => live.onChange(listener),
      begin: () => live.update(),
    })
  })

  routes.get("/c/:id/:view", async (context) => {
    const found = await opened(context)
    const view = VIEWS.find((name) => name === context.req.param("view"))
    if (!found || view === undefined) return context.notFound()
    const { named, live } = found
    const shown = await drawView(view, found, {
      ...{ base, now: now() },
      at: wholeNumber(context.req.query("at"), live.rows.length),
    })
    const main = html`<h1 class="quiet">${VIEW_LABELS[view]}</h1>${shown}`
    if (context.req.header("x-part") === "main") return respondWithPage(context, main)
    const path = `/c/${named.id}`
    return respondWithPage(
      context,
      shell({
        title: named.title,
        base,
        trail: [{ words: named.title, path }],
        views: [
          ...VIEWS.map((name) => ({ label: VIEW_LABELS[name], path: `${path}/${name}`, isCurrent: name === view })),
          ...projectLinks.map((link) => ({ ...link, isCurrent: false })),
        ],
        events: `${base}${path}/events`,
        main,
        isTall: view === "messages",
      }),
    )
  })

  routes.post("/c/:id/undo", async (context) => {
    const own = (await opened(context))?.named.actions
    if (!own) return respondWithText(context, "Only conversations of Strata can be changed.")
    const compaction = context.req.query("compaction") ?? ""
    const isDryRun = context.req.query("dry") === "1"
    return respondToAction(context, pages, async () =>
      describeUndo(await own.undo({ compaction, dryRun: isDryRun }), { isDryRun }),
    )
  })

  routes.post("/c/:id/plan-compaction", async (context) => {
    const own = (await opened(context))?.named.actions
    if (!own) return respondWithText(context, "Only conversations of Strata can be compacted.")
    return respondToAction(context, pages, async () => {
      const plan = await own.planCompaction()
      return plan.kind === "refused"
        ? plan.message
        : html`${planMarkup(planRows(plan))}<p class="soft">Nothing was changed.</p>`
    })
  })

  routes.post("/c/:id/agents/:agent/stop", async (context) => {
    const own = (await opened(context))?.named.actions
    const agent = context.req.param("agent")
    if (!own) return respondWithText(context, "Only agents of Strata can be stopped.")
    return respondToAction(context, pages, async () => {
      const agents = await own.agents()
      if (!(await agents.list()).some(({ id }) => id === agent))
        return "This agent does not exist. Nothing was stopped."
      const answer = await agents.stop(agent, { from: "page" })
      return answer.accepted ? "It was asked to stop. Its work so far is preserved." : answer.why
    })
  })
}

/** Responds to an action of the user. A failure is reported as a sentence and has changed nothing. */
async function respondToAction(
  context: Context,
  pages: ConversationRoutes,
  work: () => Promise<Markup | string>,
): Promise<Response> {
  try {
    const answer = await work()
    return typeof answer === "string" ? respondWithText(context, answer) : respondWithPage(context, answer)
  } catch (error) {
    if (!(error instanceof StrataError)) pages.onFault(error)
    return respondWithText(context, reasonFor(error))
  }
}

function reasonFor(error: unknown): string {
  if (error instanceof ConversationLockedError)
    return "A chat has this conversation open, so only that chat can change it: type the command there. Nothing was changed."
  return error instanceof StrataError
    ? error.message
    : "That failed, because of a fault in Strata. The terminal says which."
}

interface ViewOptions {
  readonly base: string
  /** Index of the first row. */
  readonly at: number
  readonly now: Date
}

async function drawView(
  view: View,
  { named, live }: LoadedConversation,
  { base, at, now }: ViewOptions,
): Promise<Markup> {
  const place = { base, conversation: named.id }
  switch (view) {
    case "context":
      return contextView(live)
    case "messages":
      return messagesView(live, { ...place, at })
    case "compactions":
      return compactionsView(live, {
        ...{ ...place, isStrata: named.actions !== undefined },
        effects: live.compactionEffects(now),
      })
    case "cache":
      return cacheView(live)
    case "money":
      return moneyView(live)
    case "agents": {
      if (!named.actions)
        return emptyState(
          "Agents are shown for conversations of Strata.",
          "What other programs' agents cost is under Money.",
        )
      const directory = await named.actions.agents()
      const [agents, isOpen] = await Promise.all([directory.list(), directory.isOpen()])
      return agentsView(agents, { ...place, isOpen })
    }
  }
}

const wholeNumber = (text: string | undefined, otherwise = 0): number =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : otherwise
