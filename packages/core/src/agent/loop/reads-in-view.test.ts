/** A repeated Read is answered by a stub only while the earlier result is completely in the context. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { ask, calling, resultsIn, scene } from "../../../test/scripted-agent.ts"
import { engineOf } from "../../conversation/conversation.ts"
import { edit } from "../../tools/files/edit.ts"
import { read } from "../../tools/files/read.ts"

const FULL = "     1\tone"
const STUB = /unchanged since you read it/
const readIt = () => calling("Read", { file_path: "a.txt" })
const changeIt = () => calling("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" })

function withFile() {
  const place = scene()
  writeFileSync(join(place.cwd, "a.txt"), "one\n")
  const open: typeof place.open = (turns, options) => place.open(turns, { tools: [read, edit], ...options })
  return { ...place, open }
}

/** A response in which the server reports that it cleared the results before the newest call, or all if it names none. */
const clearing = (content: readonly object[]) => ({
  content,
  context_management: {
    applied_edits: [{ type: "clear_tool_uses_20250919", cleared_tool_uses: 1, cleared_input_tokens: 5_000 }],
  },
})

describe("LOOP-8 a repeated read", () => {
  test("is a stub while the earlier result is in view, in the same response too", async () => {
    const { open } = withFile()
    const agent = await open([[...readIt(), ...readIt()], readIt(), "Done."])
    const [first, second, third] = resultsIn(await ask(agent, "go"))
    expect(first).toBe(FULL)
    expect(second).toMatch(STUB)
    expect(third).toMatch(STUB)
  })

  test("is answered in full after the server cleared the result", async () => {
    const { open } = withFile()
    const agent = await open([readIt(), clearing(readIt()), readIt(), "Done."])
    const results = resultsIn(await ask(agent, "go"))
    expect(results[1]).toBe(FULL)
    expect(results[2]).toMatch(STUB)
  })

  test("L2-7 an edit after the server cleared the result asks for a new read", async () => {
    const { open } = withFile()
    const agent = await open([readIt(), clearing(changeIt()), readIt(), changeIt(), "Done."])
    const results = resultsIn(await ask(agent, "go"))
    expect(results[1]).toContain("Read it first")
    expect(results[3]).not.toContain("Read it first")
  })

  test("stays a stub where the server cleared only thinking", async () => {
    const { open } = withFile()
    const edits = [{ type: "clear_thinking_20251015", cleared_thinking_turns: 1, cleared_input_tokens: 900 }]
    const agent = await open([
      readIt(),
      { content: readIt(), context_management: { applied_edits: edits } } as object,
      "Done.",
    ])
    expect(resultsIn(await ask(agent, "go"))[1]).toMatch(STUB)
  })

  test("is answered in full after a rewind to before it, and an edit asks for it", async () => {
    const { open } = withFile()
    const agent = await open(["Hello.", readIt(), "Done.", changeIt(), readIt(), "Done."])
    await ask(agent, "hello")
    const before = engineOf(agent.conversation).views.context.newest!.uuid
    await ask(agent, "read it")
    await agent.conversation.rewind(before)
    const results = resultsIn(await ask(agent, "change it"))
    expect(results[0]).toContain("Read it first")
    expect(results[1]).toBe(FULL)
  })

  test("a file changed on a branch that was left counts as unread", async () => {
    const { open } = withFile()
    const agent = await open([
      "Hello.",
      readIt(),
      changeIt(),
      "Done.",
      calling("Edit", { file_path: "a.txt", old_string: "two", new_string: "x" }),
      "Done.",
    ])
    await ask(agent, "hello")
    const before = engineOf(agent.conversation).views.context.newest!.uuid
    await ask(agent, "change it")
    await agent.conversation.rewind(before)
    expect(resultsIn(await ask(agent, "again"))[0]).toContain("Read it first")
  })

  test("is answered in full after a resume", async () => {
    const { open } = withFile()
    const first = await open([readIt(), "Done."])
    await ask(first, "go")
    await first.close()
    const second = await open([readIt(), "Done."])
    expect(resultsIn(await ask(second, "again"))[0]).toBe(FULL)
  })
})
