import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { overtakenWork, type WorkRound } from "../../../../test/overtaken-work.ts"
import { size } from "../../../../test/size.ts"
import { isReplaced } from "../../../views/context/render-decisions.ts"
import { compactMessages } from "./compact-messages.ts"
import type { PlainMessage } from "./input-messages.ts"

type AnyBlock = Readonly<Record<string, unknown>>

const user = (content: PlainMessage["content"]): PlainMessage => ({ role: "user", content })

function messagesOf(rounds: readonly WorkRound[], { isAnswered = true } = {}): readonly PlainMessage[] {
  const work = rounds.flatMap(({ tool, input, output, failed }, at): readonly PlainMessage[] => [
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: `thought ${at}`, signature: "s" },
        { type: "text", text: `Step ${at}, the port is 4873${at}.` },
        { type: "tool_use", id: `toolu_${at}`, name: tool, input },
      ],
    },
    user([
      { type: "tool_result", tool_use_id: `toolu_${at}`, content: output, ...(failed ? { is_error: true } : {}) },
      { type: "text", text: `A reminder ${at}` },
    ]),
  ])
  const end: PlainMessage = { role: "assistant", content: "Done." }
  return [user("Always use tabs. Look at the files."), ...work, ...(isAnswered ? [end, user("Go on.")] : [])]
}

const blocksIn = (messages: readonly object[]): readonly AnyBlock[] =>
  messages.flatMap((message) => {
    const { content } = message as PlainMessage
    return typeof content === "string" ? [{ type: "text", text: content }] : (content as readonly AnyBlock[])
  })
const resultsIn = (messages: readonly object[]) =>
  blocksIn(messages).flatMap(({ type, tool_use_id, content }) =>
    type === "tool_result" ? [[String(tool_use_id), String(content)] as const] : [],
  )
const prune = (messages: readonly PlainMessage[], options = {}) =>
  compactMessages(messages, { mode: "prune", keep: 200, ...options })

const read = (file: string, output: string, input = {}): WorkRound => ({
  ...{ tool: "Read", input: { file_path: file, ...input }, output, failed: false },
})
const edit = (file: string): WorkRound => ({
  ...{ tool: "Edit", input: { file_path: file, old_string: "a", new_string: "b" } },
  ...{ output: "The file was updated.", failed: false },
})
const bash = (command: string, output: string, failed = false): WorkRound => ({
  ...{ tool: "Bash", input: { command }, output, failed },
})
const text = (name: string, lines = 60) =>
  Array.from({ length: lines }, (_, at) => `${at} ${name}_${at} stands here`).join("\n")
/** Later rounds, so that the rounds before them are not the newest. */
const LATER = ["one", "two", "three"].map((name) => bash(`echo ${name}`, name))

async function cutsOf(rounds: readonly WorkRound[], options = {}) {
  const { messages } = await prune(messagesOf([...rounds, ...LATER]), options)
  return resultsIn(messages).map(([, content]) => content)
}

describe("L4-38 carry in the mode prune", () => {
  test("L4-38 a read that was changed later says so, and keeps what is exact in it", async () => {
    const [first] = await cutsOf([read("/p/a.ts", `${text("alpha")}\nError: shard-7 is gone`), edit("/p/a.ts")])
    expect(first).toMatch(/^\[Old tool result content cleared\] An earlier version: the file was changed after this\./)
    expect(first).toContain("shard-7")
    expect(first).not.toContain("Recall:")
    const [named] = await cutsOf([read("/p/a.ts", text("alpha")), edit("/p/a.ts")], { recall: "mcp__s__recall" })
    expect(named).toMatch(/ mcp__s__recall: [0-9a-f]{10}\.0/)
  })

  test("L4-38 a shell command that changes the file counts, and a change before the read does not", async () => {
    const [first] = await cutsOf([read("/p/a.ts", text("alpha")), bash("sed -i s/a/b/ /p/a.ts", "")])
    expect(first).toContain("the file was changed after this")
    const [, after] = await cutsOf([edit("/p/a.ts"), read("/p/a.ts", text("alpha"))])
    expect(after).toBe(text("alpha"))
  })

  test("L4-38 of repeated reads the newest stays, and a part goes only where its lines stand later", async () => {
    const results = await cutsOf([
      read("/p/a.ts", text("alpha")),
      read("/p/a.ts", text("alpha", 30), { offset: 0, limit: 30 }),
      read("/p/a.ts", `${text("alpha")}\nlater`),
      read("/p/a.ts", text("omega", 40), { offset: 900, limit: 40 }),
    ])
    expect(results[0]).toContain("The file was read again after this.")
    expect(results[1]).toContain("The file was read again after this.")
    expect(results[2]).toContain("later")
    expect(results[3]).toBe(text("omega", 40))
    const [part] = await cutsOf([
      read("/p/a.ts", text("omega", 40), { offset: 900, limit: 40 }),
      read("/p/a.ts", text("alpha")),
    ])
    expect(part).toBe(text("omega", 40))
  })

  test("L4-38 a failure goes once the same call has succeeded; what the user refused stays", async () => {
    const failure = `${text("alpha")}\nError: shard-7 is gone`
    const [first] = await cutsOf([bash("make", failure, true), bash("make", "ok")])
    expect(first).toContain("This failed, and the same was done later.")
    expect(first).toContain("shard-7")
    const [other] = await cutsOf([bash("make", failure, true), bash("make clean", "ok")])
    expect(other).toBe(failure)
    const refused = `Permission for this tool use was denied. The user said:\nnot on a Friday\n${text("alpha")}`
    const [said] = await cutsOf([bash("make", refused, true), bash("make", "ok")])
    expect(said).toBe(refused)
    const denied = `Not allowed: a rule of the project\n${text("alpha")}`
    const [kept] = await cutsOf([bash("make", denied, true), bash("make", "ok")])
    expect(kept).toBe(denied)
  })

  test("L4-38 of equal results the newest stays, and a very long one keeps its ends", async () => {
    const results = await cutsOf([
      bash("cat x", text("alpha")),
      bash("cat y", text("alpha")),
      bash("cat z", text("long", 900)),
    ])
    expect(results[0]).toContain("A later result has the same text.")
    expect(results[1]).toBe(text("alpha"))
    expect(results[2]).toContain("0 long_0 stands here")
    expect(results[2]).toContain("899 long_899 stands here")
    expect(results[2]).toMatch(/^\[\d+ characters left out here\.\]$/m)
    expect(results[2]!.length).toBeLessThan(8_200)
  })

  test("L4-38 the newest messages and what the model has not read stay, whatever overtook them", async () => {
    const rounds = [read("/p/a.ts", text("alpha")), read("/p/a.ts", text("alpha")), edit("/p/a.ts")]
    const { kept, pruned } = await prune(messagesOf(rounds))
    expect(pruned).toEqual([])
    expect(kept).toHaveLength(messagesOf(rounds).length)
    const unread = [...LATER, read("/p/a.ts", text("long", 900)), read("/p/a.ts", text("long", 900))]
    const answered = messagesOf(unread, { isAnswered: false })
    expect(resultsIn((await prune(answered, { keep: 0 })).messages)).toEqual(resultsIn(answered))
  })

  test("L4-38 the next call goes on from its state, and nothing is recorded twice", async () => {
    const messages = messagesOf([read("/p/a.ts", text("alpha")), edit("/p/a.ts"), ...LATER])
    const first = await prune(messages)
    const { record } = await compactMessages([...first.messages, user("And now?")], { before: first.state })
    expect(record.words.map(({ text: said }) => said)).toEqual([
      "Always use tabs. Look at the files.",
      ...[0, 1, 2, 3, 4].map((at) => `A reminder ${at}`),
      "Go on.",
      "And now?",
    ])
  })

  test("L4-38 property: only results change, pairs stay whole, it never grows, and a second time changes nothing", async () => {
    let cut = 0
    await fc.assert(
      fc.asyncProperty(overtakenWork, fc.boolean(), async (rounds, isAnswered) => {
        const messages = messagesOf(rounds, { isAnswered })
        const pruned = await prune(messages)
        expect(pruned.messages.map(({ role }) => role)).toEqual(messages.map(({ role }) => role))
        const others = (some: readonly object[]) => blocksIn(some).filter(({ type }) => type !== "tool_result")
        expect(JSON.stringify(others(pruned.messages))).toBe(JSON.stringify(others(messages)))
        const [before, after] = [resultsIn(messages), resultsIn(pruned.messages)]
        expect(after.map(([id]) => id)).toEqual(before.map(([id]) => id))
        for (const [at, [id, content]] of after.entries()) {
          const [, original] = before[at]!
          if (content === original) continue
          cut++
          expect(content.length).toBeLessThan(original.length)
          expect(isReplaced(content)).toBe(true)
          expect(original).not.toContain("please do not deploy")
          expect(pruned.pruned).toContainEqual({ toolUseId: id, text: content })
        }
        expect(after.slice(-3)).toEqual(before.slice(-3))
        expect(pruned.tokens.after).toBeLessThanOrEqual(pruned.tokens.before)
        expect(await prune(structuredClone(messages))).toEqual(pruned)
        expect((await prune(pruned.messages as PlainMessage[])).messages).toEqual(pruned.messages)
      }),
      { numRuns: size(6, 300), seed: 1 },
    )
    expect(cut).toBeGreaterThan(5)
  })
})
