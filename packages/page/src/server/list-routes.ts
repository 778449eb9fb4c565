/** The list of conversations. It is the start page, where the project of the source is chosen; its links lead to `/conversations`. */
import type { Context, Hono } from "hono"
import type { ListedConversation, PageSource } from "../live/source.ts"
import { conversationsView } from "../render/views/conversations.ts"
import { shell } from "../render/views/shell.ts"
import { streamEvents } from "./events.ts"
import { respondWithPage } from "./responses.ts"

export interface ListRoutes {
  readonly base: string
  readonly source: PageSource
  readonly now: () => Date
}

export function addListRoutes(routes: Hono, { base, source, now }: ListRoutes): void {
  const { name, list } = source
  /** The query of the start page. A single project needs no filter. */
  const ownProject = (conversations: readonly ListedConversation[]): URLSearchParams =>
    list?.project === undefined || conversations.every(({ project }) => project === list.project)
      ? new URLSearchParams()
      : new URLSearchParams({ project: list.project })
  const links = [
    ...(source.memories ? [{ label: "Memories", path: "/memories", isCurrent: false }] : []),
    ...(source.work ? [{ label: "Background work", path: "/work", isCurrent: false }] : []),
  ]
  const views = links.length === 0 ? [] : [{ label: name, path: "/", isCurrent: true }, ...links]
  const respond = async (context: Context, given?: URLSearchParams): Promise<Response> => {
    const conversations = await source.conversations()
    const search = given ?? ownProject(conversations)
    const main = conversationsView({
      ...{ base, name, conversations, search, now: now(), progress: list?.progress() },
      notListed: await source.notListed?.(),
    })
    if (context.req.header("x-part") === "main") return respondWithPage(context, main)
    const events = list ? { events: `${base}/events` } : {}
    return respondWithPage(context, shell({ title: name, base, trail: [], views, main, ...events }))
  }
  routes.get("/", (context) => respond(context))
  routes.get("/conversations", (context) => respond(context, new URL(context.req.url).searchParams))
  if (!list) return
  let changes = 0
  routes.get("/events", (context) =>
    streamEvents(context, {
      state: () => ({ rows: changes }),
      onChange: (listener) =>
        list.onChange(() => {
          changes++
          listener()
        }),
    }),
  )
}
