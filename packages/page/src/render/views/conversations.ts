/** List of conversations, newest first. */
import { formatTimeAgo } from "@strata/core/base"
import type { ListedConversation } from "../../live/source.ts"
import { html, type Markup } from "../markup.ts"
import { emptyState, tableMarkup } from "./shell.ts"

export interface ConversationsViewInput {
  readonly base: string
  readonly name: string
  readonly conversations: readonly ListedConversation[]
  readonly hasMemories: boolean
  readonly hasWork: boolean
  readonly now: Date
}

export function conversationsView({ base, name, conversations, now, ...has }: ConversationsViewInput): Markup {
  const links = [
    ...(has.hasMemories ? [html`<a href="${base}/memories">Memories of this project</a>`] : []),
    ...(has.hasWork ? [html`<a href="${base}/work">Background work</a>`] : []),
  ]
  return html`<h1>${name}</h1>${links.length === 0 ? undefined : html`<p class="actions">${links}</p>`}
${
  conversations.length === 0
    ? emptyState("No conversation yet.", "Begin one with: strata chat. It appears here as soon as you say something.")
    : tableMarkup(
        conversations,
        [
          {
            title: "conversation",
            cell: ({ id, title }) => html`<a href="${base}/c/${id}">${title}</a>`,
            isText: true,
          },
          { title: "last used", cell: ({ touched }) => formatTimeAgo(new Date(touched), now), isText: true },
          { title: "model", cell: ({ model = "" }) => model, isText: true },
        ],
        { caption: "Conversations, newest first" },
      )
}`
}
