import { expect, test } from "vitest"
import { openTestConversation } from "../../test/open.ts"
import { projectName } from "../base/clock.ts"
import { InvalidOptionError } from "../base/options.ts"
import { memoryStore } from "../journal/in-memory/store.ts"
import { serialiseRequest } from "../views/context/request.ts"

const HALF = "\ud83d"
const LOOK = { name: "Look", input_schema: { type: "object" } }

test("MSG-14 half a character in the prompt is replaced, and the same after a resume", async () => {
  const store = memoryStore()
  const options = {
    store,
    system: [{ type: "text", text: `Be brief ${HALF}` }],
    tools: [{ ...LOOK, description: `Looks ${HALF}` }],
    context: { Rules: `None ${HALF}` },
  } as never
  const chat = await openTestConversation(options)
  await chat.add("Hello.")
  const sent = serialiseRequest(await chat.prepare())
  expect(sent.isWellFormed()).toBe(true)
  expect(sent).toContain("Be brief \ufffd")
  expect(sent).toContain("Looks \ufffd")
  await chat.close()
  const again = await openTestConversation(options)
  expect(serialiseRequest(await again.prepare())).toBe(sent)
})

test("MSG-14 a system prompt of white space counts as absent", async () => {
  const chat = await openTestConversation({ system: " \n" })
  await chat.add("Hello.")
  expect(await chat.prepare()).not.toHaveProperty("system")
})

const round: { self?: unknown } = {}
round.self = round

const BAD: readonly [string, object, RegExp][] = [
  ["a blank text in the system prompt", { system: [{ type: "text", text: " " }] }, /"system" .* white space/],
  ["a system block without a type", { system: [{ text: "Be brief." }] }, /"system" .* system\[0\]\.type/],
  ["an image in the system prompt", { system: [{ type: "image", text: "x" }] }, /"system" /],
  ["a tool without a schema", { tools: [{ name: "Look" }] }, /"tools" .* tools\.0.* input_schema/],
  ["a schema that is a list", { tools: [{ name: "Look", input_schema: [] }] }, /"tools" .*"input_schema"/],
  ["a name with a space", { tools: [{ ...LOOK, name: "Look here" }] }, /"tools" .* "name"/],
  ["an unknown field", { tools: [{ ...LOOK, shade: 1 }] }, /"tools" .* "shade"/],
  ["a server's tool that there is not", { tools: [{ type: "web_search", name: "web_search" }] }, /"tools" .* "type"/],
  ["a server's tool by another name", { tools: [{ type: "web_search_20260318", name: "x" }] }, /"tools" .* "name"/],
  [
    "domains that are allowed and blocked",
    { tools: [{ type: "web_search_20260318", name: "web_search", allowed_domains: ["a"], blocked_domains: ["b"] }] },
    /"tools" .* "blocked_domains"/,
  ],
  ["a tool that contains itself", { tools: [{ ...LOOK, input_schema: { type: "object", round } }] }, /"tools" .* JSON/],
]

test.each(BAD)("MSG-14 %s is refused at opening", async (_name, options, why) => {
  const store = memoryStore()
  const opening = openTestConversation({ store, ...options })
  await expect(opening).rejects.toThrow(InvalidOptionError)
  await expect(opening).rejects.toThrow(why)
  expect(await store.list(projectName("/nowhere"))).toEqual([])
})

test.each(BAD)("MSG-14 %s is refused as a new prompt, and the old one stays", async (_name, prompt, why) => {
  const chat = await openTestConversation({ system: "Be brief.", tools: [LOOK] as never })
  await chat.add("Hello.")
  const before = serialiseRequest(await chat.prepare())
  await expect(chat.usePrompt(prompt as never)).rejects.toThrow(why)
  expect(serialiseRequest(await chat.prepare())).toBe(before)
})

test("MSG-14 a server's tool of a later date than ours is sent as it is", async () => {
  const tool = { type: "web_search_20991231", name: "web_search", depth: 3 }
  const chat = await openTestConversation({ tools: [tool] as never })
  await chat.add("Hello.")
  expect((await chat.prepare()).tools?.[0]).toMatchObject(tool)
})
