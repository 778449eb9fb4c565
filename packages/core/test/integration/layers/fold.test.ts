/** Folded and snipped ranges in an agent, against the simulator. */
import { expect, test } from "vitest"
import type { ScriptedTurn } from "../../../../sim/src/responders/scripted.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { handleOf } from "../../../src/messages/media.ts"
import { contentOf, type UserMessage } from "../../../src/messages/messages.ts"
import { serialiseRequest } from "../../../src/views/context/request.ts"
import { isWhole } from "../../size.ts"
import { ask, calls } from "../agent/agents.ts"
import { compactingAgent, compactingSimulator, decisionsOf, textsOf } from "../compaction/compacting.ts"
import { rounds } from "./conversations.ts"

test("BEY-13 a compaction after folds summarises their lines, and every block of the ranges is still recalled", async () => {
  const { sim, of } = await compactingSimulator(manyTimes(rounds(1, 2_000), 40))
  const agent = await compactingAgent(sim, { settings: { switches: { notes: false } } })
  const { conversation: chat } = agent
  for (const task of ["First task.", "Second task.", "Third task."]) await ask(agent, task)
  const { ranges } = await chat.fold({ from: chat.userMessages().messages[0]!.uuid })
  const { messages: hidden } = engineOf(chat).views.context.hiddenRanges[0]!
  await chat.compact()
  expect(textsOf(of("summary")[0]!.request).join("\n")).toContain(ranges[0]!.line)
  expect(chat.userMessages().messages.map(({ text }) => text)).toEqual(["First task.", "Second task.", "Third task."])
  await expect(chat.unfold(ranges[0]!.handles.from)).rejects.toThrow(/can still be recalled/)
  for (const message of hidden)
    for (const [at, block] of (message.type === "attachment" ? [] : contentOf(message as UserMessage)).entries())
      expect(await chat.recall(handleOf(message.uuid, at))).toEqual(block)
  await agent.close()
})

test("BEY-13 undoing the compaction brings the folded lines back, byte for byte", async () => {
  const { sim } = await compactingSimulator(manyTimes(rounds(1, 2_000), 40))
  const agent = await compactingAgent(sim, { settings: { switches: { notes: false } } })
  const { conversation: chat } = agent
  for (const task of ["First task.", "Second task.", "Third task."]) await ask(agent, task)
  const [first] = chat.userMessages().messages
  const open = serialiseRequest(await engineOf(chat).preparer.forkRequest())
  await chat.fold({ from: first!.uuid })
  const folded = serialiseRequest(await engineOf(chat).preparer.forkRequest())
  await chat.compact()
  await chat.undo()
  expect(serialiseRequest(await engineOf(chat).preparer.forkRequest())).toBe(folded)
  expect(engineOf(chat).views.context.hiddenRanges).toHaveLength(1)
  await chat.unfold(first!.uuid)
  expect(serialiseRequest(await engineOf(chat).preparer.forkRequest())).toBe(open)
  await agent.close()
})

test.runIf(isWhole)("BEY-13 with bound thinking, folding, snipping and opening never get a 400", async () => {
  const thinking: ScriptedTurn = (turn) => ({
    content: [
      { type: "thinking", thinking: `Thought ${turn.index}.` },
      { type: "text", text: "Done." },
    ],
  })
  const { sim } = await compactingSimulator(manyTimes([...rounds(1, 500).slice(0, 1), thinking], 40))
  const agent = await compactingAgent(sim, { settings: { switches: { notes: false } } })
  expect(agent.model.facts.accepts.boundThinking).toBe(true)
  const { conversation: chat } = agent
  const task = async (name: string) => {
    expect((await ask(agent, name)).end).toMatchObject({ reason: "answer" })
    return chat.userMessages().messages.at(-1)!.uuid
  }
  const [first, second] = [await task("First."), await task("Second.")]
  await task("Third.")
  await chat.fold({ from: first })
  await task("Fourth.")
  await chat.snip({ from: second })
  await task("Fifth.")
  await chat.unfold(first)
  await task("Sixth.")
  await chat.unfold(second)
  await task("Seventh.")
  expect(sim.log.map(({ status }) => status)).toEqual(sim.log.map(() => 200))
  await agent.close()
})

test("BEY-13 rewinding into a folded range opens it", async () => {
  const { sim } = await compactingSimulator(manyTimes(rounds(1, 200), 40))
  const agent = await compactingAgent(sim, { settings: { switches: { notes: false } } })
  const { conversation: chat } = agent
  await ask(agent, "First task.")
  const before = serialiseRequest(await engineOf(chat).preparer.forkRequest())
  const { uuid } = engineOf(chat).views.context.newest!
  for (const task of ["Second task.", "Third task."]) await ask(agent, task)
  const [first] = chat.userMessages().messages
  await chat.fold({ from: first!.uuid, to: uuid })
  expect(engineOf(chat).views.context.hiddenRanges).toHaveLength(1)
  await chat.rewind(uuid)
  expect(engineOf(chat).views.context.hiddenRanges).toHaveLength(0)
  expect(serialiseRequest(await engineOf(chat).preparer.forkRequest())).toBe(before)
  await agent.close()
})

test("BEY-13 the agent proposes a snip, and only the user's approval cuts it out", async () => {
  let handle = ""
  const propose: ScriptedTurn = (turn) => ({
    content: [
      { type: "tool_use", id: turn.nextToolUseId(), name: "Snip", input: { from: handle, why: "It was a dead end." } },
    ],
  })
  const { sim, of } = await compactingSimulator([
    ...rounds(1, 500),
    ...rounds(1, 500),
    calls(["Snip", {}]),
    "That can go.",
    propose,
    "As you wish.",
    propose,
    "It is gone.",
  ])
  const asked: string[] = []
  let answer = "Keep it"
  const agent = await compactingAgent(sim, {
    settings: { switches: { notes: false, "snip-tool": true } },
    promptUser: ({ text }) => {
      asked.push(text)
      return answer
    },
  })
  const { conversation: chat } = agent
  await ask(agent, "Never use tabs. Try the first idea.")
  await ask(agent, "Try the second idea.")
  await ask(agent, "What can go?")
  const [listing] = textsOf(of("work").at(-1)!.request).filter((text) => /^[0-9a-f]{10}: /.test(text))
  expect(listing).toMatch(/^[0-9a-f]{10}: 4 messages, about [\d,]+ tokens: Never use tabs\. Try the first idea\.$/m)
  expect(asked).toEqual([])

  handle = listing!.slice(0, 10)
  await ask(agent, "Propose it.")
  expect(asked).toHaveLength(1)
  expect(asked[0]).toMatch(
    /cut 4 messages \(about [\d,]+ tokens, .*They begin with "Never use tabs\. Try the first idea\."\. Its reason: "It was a dead end"\./,
  )
  expect(await decisionsOf(agent, "snipped")).toHaveLength(0)

  answer = "Cut it out"
  await ask(agent, "Propose it again.")
  expect(await decisionsOf(agent, "snipped")).toMatchObject([{ by: "agent", why: "It was a dead end." }])
  expect(textsOf(of("work").at(-1)!.request)).not.toContain("Never use tabs. Try the first idea.")
  // a compaction still includes the user's messages and requests
  expect(chat.userMessages().messages[0]).toMatchObject({ text: "Never use tabs. Try the first idea." })
  expect(chat.userMessages().rules[0]!.text).toContain("Never use tabs")
  await agent.close()
})

test("BEY-13 without someone to ask nothing is snipped, and without the setting the model has no such tool", async () => {
  const { sim, of } = await compactingSimulator([...rounds(1, 500), calls(["Snip", { from: "0123456789" }]), "Done."])
  const agent = await compactingAgent(sim, { settings: { switches: { notes: false, "snip-tool": true } } })
  await ask(agent, "Go.")
  await ask(agent, "Snip.")
  expect(textsOf(of("work").at(-1)!.request).join("\n")).toContain("There is no one to ask, so nothing was cut.")
  expect(await decisionsOf(agent, "snipped")).toHaveLength(0)
  await agent.close()
  const usual = await compactingAgent(sim, { settings: { switches: { notes: false } } })
  await ask(usual, "Go.")
  expect(
    of("work")
      .at(-1)!
      .request.tools?.map(({ name }) => name),
  ).not.toContain("Snip")
  await usual.close()
})

function manyTimes<T>(turns: readonly T[], times: number): readonly T[] {
  return Array.from({ length: times }, () => turns).flat()
}
