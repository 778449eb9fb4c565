/** Invariant 6: with everything switched off, the request is the flattened journal and nothing else. */
import fc from "fast-check"
import { expect, test } from "vitest"
import type { Conversation } from "../../src/conversation/conversation.ts"
import { isThinking, toBlocks } from "../../src/messages/blocks.ts"
import { Flattener } from "../../src/messages/flatten.ts"
import type { AssistantMessage } from "../../src/messages/messages.ts"
import { usable } from "../../src/messages/usable.ts"
import { openTestConversation } from "../open.ts"
import { fuzz } from "../runs.ts"
import { conversations, newPlayer, play } from "../steps.ts"

test("invariant 6, FLG-3: with STRATA_OFF the messages of a request are the flattened journal", async () => {
  await fc.assert(
    fc.asyncProperty(conversations, async (steps) => {
      const meddling = { name: "meddling", beforeRequest: () => Promise.reject(new Error("a layer ran")) }
      const chat = await openTestConversation({ env: { STRATA_OFF: "1" }, layers: [meddling] })
      chat.on("layerFailed", () => expect.unreachable("no layer may run"))
      const player = newPlayer()
      for (const step of [...steps.filter(({ kind }) => kind !== "rewind"), { kind: "prepare" } as const]) {
        const request = await play(chat, step, player)
        if (!request) continue
        // a synthetic answer is permanent from its request on, so its position in the journal matters
        const answered = new Set<string>()
        const flattener = new Flattener({ answeredSynthetically: answered })
        const leftOut = await thinkingLeftOut(chat)
        for await (const entry of chat.entries()) {
          if (entry.type === "assistant" && leftOut.has(entry.message.id!))
            flattener.add(withoutThinking(usable(entry) as typeof entry))
          else if (entry.type !== "strata") flattener.add(usable(entry))
          else if (entry.subtype === "repaired") {
            for (const { rule, id } of entry.repairs) if (rule === "unanswered-tool-use") answered.add(id)
          }
        }
        expect(request.messages).toEqual(flattener.result().messages)
      }
    }),
    fuzz,
  )
})

/** Responses whose thinking a request omitted. It stays omitted. */
async function thinkingLeftOut(chat: Conversation): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  for await (const entry of chat.entries()) {
    if (entry.type !== "strata" || entry.subtype !== "repaired") continue
    for (const { rule, id } of entry.repairs) if (rule === "trailing-thinking") ids.add(id)
  }
  return ids
}

/** A response that ended in thinking did not stop within a server call, and must not look like that without the thinking. */
function withoutThinking(message: AssistantMessage): AssistantMessage {
  const blocks = toBlocks(message.message.content)
  const last = blocks.at(-1)
  const stop = last && isThinking(last) ? { stop_reason: null } : {}
  return { ...message, message: { ...message.message, ...stop, content: blocks.filter((block) => !isThinking(block)) } }
}
