/** The pages of one conversation: its views, slices of its rows, single blocks, search, live events, and what a person may do. */
import { ConversationLockedError, handleOf, StrataError } from "@strata/core"
import { counted, visible } from "@strata/core/base"
import type { Context, Hono } from "hono"
import { planRows } from "../labels/compaction-plan.ts"
import { undoSentence } from "../labels/undo.ts"
import { findIn } from "../live/find.ts"
import type { FollowedConversation } from "../live/followed-conversation.ts"
import { blocksIn, textIn } from "../live/rows.ts"
import type { NamedConversation } from "../live/source.ts"
import { html, type Markup } from "../render/markup.ts"
import { agentsView } from "../render/views/agents.ts"
import { cacheView } from "../render/views/cache.ts"
import { compactionsView, planMarkup } from "../render/views/compactions.ts"
import { contextView } from "../render/views/context.ts"
import { messagesView } from "../render/views/messages.ts"
import { moneyView } from "../render/views/money.ts"
import { foundMarkup, rowsMarkup } from "../render/views/rows.ts"
import { empty, shell, type ViewLink } from "../render/views/shell.ts"
import { said, sent } from "./answers.ts"
import { eventsOf } from "./events.ts"

/** Conversations that pages show now. */
export interface Conversations {
  open(id: string): Promise<{ readonly named: NamedConversation; readonly followed: FollowedConversation } | undefined>
}

const VIEWS = ["context", "messages", "compactions", "cache", "money", "agents"] as const
type View = (typeof VIEWS)[number]
const VIEW_WORDS: Readonly<Record<View, string>> = {
  context: "Context",
  messages: "Conversation",
  compactions: "Compactions",
  cache: "Cache",
  money: "Money",
  agents: "Agents",
}

const MAX_ROWS = 100 // in one answer

export interface ConversationPages {
  readonly base: string
  readonly conversations: Conversations
  /** Pages of the whole project, beside the views of the conversation. */
  readonly beside: readonly Omit<ViewLink, "isCurrent">[]
  readonly now: () => Date
  /** Learns of errors that are ours. */
  readonly onFault: (error: unknown) => void
}

export function addConversation(routes: Hono, pages: ConversationPages): void {
  const { base, conversations, beside, now } = pages
  const opened = async (context: Context) => conversations.open(context.req.param("id") ?? "")

  routes.get("/c/:id", (context) =>
    context.redirect(`${base}/c/${encodeURIComponent(context.req.param("id"))}/context`, 302),
  )

  routes.get("/c/:id/rows", async (context) => {
    const found = await opened(context)
    if (!found) return context.notFound()
    const { named, followed } = found
    const from = wholeNumber(context.req.query("from"))
    const count = Math.min(MAX_ROWS, wholeNumber(context.req.query("count"), MAX_ROWS))
    const rows = followed.rows.slice(from, from + count)
    return sent(context, rowsMarkup(rows, { base, conversation: named.id }))
  })

  routes.get("/c/:id/place", async (context) => {
    const found = await opened(context)
    const handle = context.req.query("handle") ?? ""
    const at = found?.followed.rows.findIndex((row) => row.handle === handle) ?? -1
    return context.json({ at })
  })

  routes.get("/c/:id/block/:uuid/:at", async (context) => {
    const found = await opened(context)
    const entry = found?.followed.find(context.req.param("uuid"))
    if (!entry) return context.notFound()
    const at = context.req.param("at")
    const blocks = blocksIn(entry)
    const shown = at === "all" ? blocks : blocks.slice(wholeNumber(at), wholeNumber(at) + 1)
    const text = shown.map(textIn).join("\n")
    if (context.req.query("exact") === undefined) return context.text(visible(text))
    return context.body(text, 200, {
      "content-type": "application/octet-stream",
      "content-disposition": `attachment; filename="${handleOf(entry.uuid).replace(/\W/g, "")}.txt"`,
    })
  })

  routes.get("/c/:id/find", async (context) => {
    const found = await opened(context)
    const words = context.req.query("words")?.trim() ?? ""
    if (!found || words === "") return sent(context, html``)
    const hits = await findIn(found, words)
    if (hits.length === 0) return said(context, "Nothing in this conversation has these words.")
    return sent(context, html`<p>${counted(hits.length, "message")} found, best first.</p>${foundMarkup(hits)}`)
  })

  routes.get("/c/:id/events", async (context) => {
    const found = await opened(context)
    if (!found) return context.notFound()
    const { followed } = found
    return eventsOf(context, {
      state: () => ({ rows: followed.rows.length }),
      onChange: (listener) => followed.onChange(listener),
      begin: () => followed.update(),
    })
  })

  routes.get("/c/:id/:view", async (context) => {
    const found = await opened(context)
    const view = VIEWS.find((name) => name === context.req.param("view"))
    if (!found || view === undefined) return context.notFound()
    const { named, followed } = found
    const shown = await drawn(view, found, {
      ...{ base, now: now() },
      at: wholeNumber(context.req.query("at"), followed.rows.length),
    })
    const main = html`<h1 class="quiet">${VIEW_WORDS[view]}</h1>${shown}`
    if (context.req.header("x-part") === "main") return sent(context, main)
    const path = `/c/${named.id}`
    return sent(
      context,
      shell({
        title: named.title,
        base,
        trail: [{ words: named.title, path }],
        views: [
          ...VIEWS.map((name) => ({ words: VIEW_WORDS[name], path: `${path}/${name}`, isCurrent: name === view })),
          ...beside.map((link) => ({ ...link, isCurrent: false })),
        ],
        events: `${base}${path}/events`,
        main,
        isTall: view === "messages",
      }),
    )
  })

  routes.post("/c/:id/undo", async (context) => {
    const own = (await opened(context))?.named.own
    if (!own) return said(context, "Only conversations of Strata can be changed.")
    const compaction = context.req.query("compaction") ?? ""
    const isDryRun = context.req.query("dry") === "1"
    return answered(context, pages, async () =>
      undoSentence(await own.undo({ compaction, dryRun: isDryRun }), { isDryRun }),
    )
  })

  routes.post("/c/:id/plan-compaction", async (context) => {
    const own = (await opened(context))?.named.own
    if (!own) return said(context, "Only conversations of Strata can be compacted.")
    return answered(context, pages, async () => {
      const plan = await own.planCompaction()
      return plan.kind === "refused"
        ? plan.message
        : html`${planMarkup(planRows(plan))}<p class="soft">Nothing was changed.</p>`
    })
  })

  routes.post("/c/:id/agents/:agent/stop", async (context) => {
    const own = (await opened(context))?.named.own
    const agent = context.req.param("agent")
    if (!own) return said(context, "Only agents of Strata can be stopped.")
    return answered(context, pages, async () => {
      const agents = await own.agents()
      if (!(await agents.list()).some(({ id }) => id === agent)) return "There is no such agent. Nothing was stopped."
      const answer = await agents.stop(agent, { from: "page" })
      return answer.accepted ? "It was asked to stop. What it did so far is kept." : answer.why
    })
  })
}

/** The answer to something that a person asked for. What fails is a sentence, and changed nothing. */
async function answered(
  context: Context,
  pages: ConversationPages,
  work: () => Promise<Markup | string>,
): Promise<Response> {
  try {
    const answer = await work()
    return typeof answer === "string" ? said(context, answer) : sent(context, answer)
  } catch (error) {
    if (!(error instanceof StrataError)) pages.onFault(error)
    return said(context, reasonFor(error))
  }
}

function reasonFor(error: unknown): string {
  if (error instanceof ConversationLockedError)
    return "A chat has this conversation open, so only that chat can change it: type the command there. Nothing was changed."
  return error instanceof StrataError
    ? error.message
    : "That failed, because of a fault in Strata. The terminal says which."
}

interface Drawn {
  readonly base: string
  /** The row to begin with. */
  readonly at: number
  readonly now: Date
}

async function drawn(
  view: View,
  { named, followed }: { readonly named: NamedConversation; readonly followed: FollowedConversation },
  { base, at, now }: Drawn,
): Promise<Markup> {
  const place = { base, conversation: named.id }
  switch (view) {
    case "context":
      return contextView(followed)
    case "messages":
      return messagesView(followed, { ...place, at })
    case "compactions":
      return compactionsView(followed, {
        ...{ ...place, isOwn: named.own !== undefined },
        needed: followed.needed(now),
      })
    case "cache":
      return cacheView(followed)
    case "money":
      return moneyView(followed)
    case "agents": {
      if (!named.own)
        return empty(
          "Agents are shown for conversations of Strata.",
          "What other programs' agents cost is under Money.",
        )
      const kept = await named.own.agents()
      const [agents, isOpen] = await Promise.all([kept.list(), kept.isOpen()])
      return agentsView(agents, { ...place, isOpen })
    }
  }
}

const wholeNumber = (text: string | undefined, otherwise = 0): number =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : otherwise
