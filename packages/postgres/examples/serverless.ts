/**
 * One turn of a conversation in one HTTP request: open, answer, close. Nothing is kept in memory between requests, so the next one may
 * reach another machine, and none needs a disk.
 */
import Anthropic from "@anthropic-ai/sdk"
import { ConversationLockedError, openConversation, type Store } from "@strata/core"
import { Hono } from "hono"

export interface ServerlessOptions {
  readonly store: Store
  readonly client?: Anthropic
  /** The user that your gateway has authenticated. Undefined: the request is refused. */
  readonly userOf: (request: Request) => string | undefined
}

export function serverless({ store, client = new Anthropic(), userOf }: ServerlessOptions): Hono {
  const app = new Hono()
  app.post("/chats/:id", async (context) => {
    const owner = userOf(context.req.raw)
    if (owner === undefined) return context.json({ error: "Sign in first." }, 401)
    const { text } = await context.req.json<{ text: string }>()
    try {
      await using chat = await openConversation({
        ...{ store, client, project: "support", id: context.req.param("id"), model: "claude-opus-5-5" },
        ...{ system: "You help customers.", memory: { owner } },
        lockTimeoutMs: 10_000, // if the same user sends two messages at once, the second waits for the first
      })
      await chat.add(text)
      const response = await client.messages.stream(await chat.prepare()).finalMessage()
      await chat.record(response)
      return context.json({
        answer: response.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(""),
      })
    } catch (error) {
      if (error instanceof ConversationLockedError) return context.json({ error: "One message at a time." }, 409)
      throw error
    }
  })
  return app
}
