import { expect, test } from "vitest"
import { conversation } from "../../../../test/builders.ts"
import { mentions } from "./audit.ts"
import { buildSource } from "./source.ts"

const of = (builder: ReturnType<typeof conversation>) => buildSource({ messages: builder.messages })
const source = of(conversation().user("Please change src/module-3.ts so that it listens on port 4003."))

test.each([
  ["Modules were changed to listen.", true],
  ["Ports are listened on.", true],
  ["Bread was baked for the guests.", false],
])("BEY-2 a summary may inflect the words of the conversation: %s %s", (summary, speaks) => {
  expect(mentions(summary, source)).toBe(speaks)
})

test.each([
  "The work went on.",
  "1. Primary Request and Intent: the user's request. 8. Current Work: in progress. 9. Next Step: continue.",
  "All tasks are done, 7 of 7.",
  "",
])("BEY-2 a summary that fits any conversation says nothing: %s", (summary) => {
  expect(mentions(summary, source)).toBe(false)
})

const LOGS = "banana sunny weather holiday beach sand picnic ".repeat(2)
const long = of(
  conversation()
    .user(
      "The importer drops the last line of each ledger. Find out why, and repair it. Keep the public names as they are.",
    )
    .say("I read the importer first, then the tokenizer that it calls for every ledger.")
    .call("Read", { file_path: "/repo/src/importer/tokenizer.ts" })
    .result(`4711 lines: export const splitLedger = () => [] // ${LOGS}`)
    .say("The tokenizer forgets the rest of its buffer at the end of a stream."),
)

test.each([
  ["Banana banana. It is sunny, and the beach has sand.", false],
  ["Parser.", false],
  ["The importer lost lines because the tokenizer forgot its buffer.", true],
  ["The ledger has 4711 lines.", true],
  ["Read tokenizer.ts; splitLedger is next in the importer.", true],
  ["Der Importer verliert Zeilen, weil der Tokenizer seinen Buffer vergisst.", true],
])("BEY-2 words that only tool output has prove nothing, names do: %s %s", (summary, speaks) => {
  expect(mentions(summary, long)).toBe(speaks)
})

test("BEY-2 a conversation in Chinese, and summaries of it", () => {
  const chinese = of(
    conversation().user("请把网关的端口改成 8443，超时改成两秒半。").say("我先读取网关的配置文件，然后修改端口。"),
  )
  expect(mentions("用户要求修改网关端口，配置文件已读取。", chinese)).toBe(true)
  expect(mentions("今天的天气很好，我们吃了香蕉。", chinese)).toBe(false)
})

test("BEY-2 without messages, there is nothing to speak of", () => {
  expect(mentions("Nothing happened.", buildSource({ messages: [] }))).toBe(true)
})
