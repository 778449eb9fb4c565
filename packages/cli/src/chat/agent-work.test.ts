import { StrataError } from "@strata/core"
import { expect, test } from "vitest"
import type { SessionAgent } from "../session.ts"
import { AgentWork } from "./agent-work.ts"
import { ChatStore } from "./store.ts"

test("HOOK-1 a message that cannot be kept while the agent works goes back to the input, with a sentence", async () => {
  const agent = {
    enqueue: () => Promise.reject(new StrataError("A hook blocked the message: no secrets. It was not sent.")),
  } as unknown as SessionAgent
  const store = new ChatStore([])
  const work = new AgentWork({ store, agent: () => agent, limits: {} as never })
  const busy = Promise.withResolvers<void>()
  void work.occupy(() => busy.promise)
  store.dispatch({ type: "submitted", text: "the key is 123" })
  await work.send("the key is 123")
  const { editor, items } = store.snapshot()
  expect(editor.text).toBe("the key is 123")
  expect(items).toEqual([
    { kind: "notice", tone: "error", text: "A hook blocked the message: no secrets. It was not sent." },
  ])
})
