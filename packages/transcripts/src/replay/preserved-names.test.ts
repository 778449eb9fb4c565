import { expect, test } from "vitest"
import { conversation } from "../../../core/test/builders.ts"
import { AS_RECORDED, replay, strata } from "./index.ts"

const usage = (read: number, written: number) => ({
  ...{ input_tokens: 3, output_tokens: 100 },
  ...{ cache_read_input_tokens: read, cache_creation_input_tokens: written },
})

const before = () =>
  conversation()
    .user("Look at src/parser.ts and at parseTokens. The port is 8443.")
    .call("Read", { file_path: "src/lexer.ts" }, { usage: usage(0, 20_000) })
    .result("function readToken() {}")
    .say("It is in src/parser.ts.", { usage: usage(20_000, 500) })

const kept = async (entries: ReturnType<typeof conversation>["messages"]) => {
  const { reports } = await replay({ entries, model: "claude-opus-4-6" }, { policies: [AS_RECORDED, strata] })
  return reports.map(({ namesKept }) => namesKept)
}

test("BEY-15 both policies are asked for the same names of the same compactions", async () => {
  const { messages } = before()
    .boundary()
    .user("A summary: src/parser.ts was read, and parseTokens is the place.", { isCompactSummary: true })
    .call(
      "Edit",
      { file_path: "src/lexer.ts", old_string: "readToken", new_string: "newName" },
      { usage: usage(0, 9_000) },
    )
    .result("ok")
    .say("parseTokens in src/parser.ts now listens on 8443.", { usage: usage(9_000, 200) })
  expect(await kept(messages)).toEqual([
    { compactions: 1, names: 5, inView: 2 },
    { compactions: 1, names: 5, inView: 5 }, // the policy would not have compacted so early
  ])
})

test("BEY-15 a name that came back into view after it was lost was not kept", async () => {
  const { messages } = before()
    .boundary()
    .user("A summary.", { isCompactSummary: true })
    .call("Grep", { pattern: "token" }, { usage: usage(0, 9_000) })
    .result("src/lexer.ts: readToken")
    .say("It is readToken.", { usage: usage(9_000, 200) })
  const [recorded] = await kept(messages)
  expect(recorded).toEqual({ compactions: 1, names: 1, inView: 0 })
})

test("BEY-15 a compaction at the beginning of a file, and one that no answer followed, are not counted", async () => {
  const { messages } = conversation()
    .boundary()
    .user("A summary of parseTokens.", { isCompactSummary: true })
    .say("parseTokens is fine.", { usage: usage(0, 9_000) })
    .boundary()
  expect(await kept(messages)).toEqual([
    { compactions: 0, names: 0, inView: 0 },
    { compactions: 0, names: 0, inView: 0 },
  ])
})
