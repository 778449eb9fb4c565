import { expect, test } from "vitest"
import { openTestConversation } from "../../test/open.ts"

const result = (id: string, content = "a file") => [{ type: "tool_result" as const, tool_use_id: id, content }]
const call = (id: string) => ({ type: "tool_use" as const, id, name: "Read", input: {} })

test("MSG-4, MSG-14 a result that no call waits for is refused with the ids of the open calls, and nothing changes", async () => {
  const chat = await openTestConversation({ model: "claude-opus-5-5" })
  await chat.add("Read both.")
  await expect(chat.add(result("toolu_1"))).rejects.toThrow(/no call is open/)
  await chat.record({ content: [call("toolu_1"), call("toolu_2")] })
  await expect(chat.add(result("toolu_9"))).rejects.toThrow(
    /no open call has the id "toolu_9", and these calls are open: "toolu_1", "toolu_2"\..*The conversation is unchanged/,
  )
  await chat.add(result("toolu_2"))
  await expect(chat.add(result("toolu_2", "another"))).rejects.toThrow(/these calls are open: "toolu_1"\./)
  await chat.add(result("toolu_2")) // repeated, as after an error: it is sent once
  await chat.add(result("toolu_1"))
  expect(JSON.stringify(await chat.prepare()).match(/a file/g)).toHaveLength(2)
})

test("MSG-4 a list with calls and their results is added as a whole, also where a model uses an id again", async () => {
  const chat = await openTestConversation({ model: "claude-opus-5-5" })
  const exchange = [
    { role: "assistant" as const, content: [call("toolu_1")] },
    { role: "user" as const, content: result("toolu_1") },
  ]
  await chat.add([{ role: "user", content: "Go." }, ...exchange, ...exchange])
  await expect(chat.add(result("toolu_1", "another"))).rejects.toThrow(/no call is open/)
})
