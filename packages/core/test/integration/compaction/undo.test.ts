/**
 * Undoing compactions of an agent against the simulator: the effects on automatic compaction, thinking, the prompt, file reads and
 * branches.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { FileReads } from "../../../src/tools/files/read-state.ts"
import { serialiseRequest } from "../../../src/views/context/request.ts"
import { openTestConversation } from "../../open.ts"
import { isWhole } from "../../size.ts"
import { ask, calls, project } from "../agent/agents.ts"
import { rounds } from "../layers/conversations.ts"
import { compactingAgent, compactingSimulator, decisionsOf, NO_NOTES, phasesIn, textsOf } from "./compacting.ts"

test.runIf(isWhole)(
  "BEY-3, L4-1 after an undo automatic compaction waits until there is more, and says so once",
  async () => {
    const { sim, of } = await compactingSimulator([...rounds(7, 4_000), "Still here.", "Yes.", ...rounds(3, 2_500)])
    const settings = {
      switches: { notes: false, "clear-by-size": false, "clear-by-api": false, "clear-by-time": false },
    }
    const agent = await compactingAgent(sim, { settings, window: 60_000 })
    const { conversation: chat } = agent
    await ask(agent, "Go.")
    expect(engineOf(chat).views.compactions.count).toBe(1)
    await chat.undo()
    const { tokens } = engineOf(chat).views.context.size()
    expect(tokens).toBeGreaterThan(chat.thresholds.autoCompact)
    const phases = []
    for (const text of ["Are you there?", "Really?"])
      phases.push(...phasesIn((await ask(agent, text)).events, "message"))
    expect(phases).toEqual([expect.stringMatching(/The last compaction was undone\. Automatic compaction waits until/)])
    expect(engineOf(chat).views.compactions.count).toBe(0)
    expect(of("summary")).toHaveLength(1)
    await ask(agent, "Read on.")
    expect(engineOf(chat).views.compactions.count).toBe(1)
    expect(sim.log.every(({ status }) => status === 200)).toBe(true)
    await agent.close()
  },
)

test("BEY-3, CACHE-6 thinking of later messages is bound to the summary, so it goes with it: nothing is refused", async () => {
  const thinking = (text: string) => ({
    content: [
      { type: "thinking" as const, thinking: "Hm." },
      { type: "text" as const, text },
    ],
  })
  const turns = [thinking("One."), ...rounds(3, 2_000), thinking("Three."), thinking("Four."), thinking("Five.")]
  const { sim, of } = await compactingSimulator(turns)
  const agent = await compactingAgent(sim, { window: 200_000, settings: NO_NOTES })
  expect(agent.model.facts.accepts.boundThinking).toBe(true)
  const { conversation: chat } = agent
  await ask(agent, "First question")
  await ask(agent, "Second question")
  await chat.compact()
  await ask(agent, "Third question")
  const report = await chat.undo()
  expect(report.later).toEqual({ messages: 2, kept: true }) // the date and the mode are not counted
  expect(await decisionsOf(agent, "thinking-dropped")).toMatchObject([{ why: "something before it was undone" }])
  await ask(agent, "Fourth question")
  const sent = of("work").at(-1)!.request
  expect(JSON.stringify(sent.messages)).toContain("Third question")
  expect(sent.messages.flatMap(({ content }) => content).filter(({ type }) => type === "thinking")).toHaveLength(1)
  await ask(agent, "Fifth question")
  expect(sim.log.filter(({ status }) => status !== 200)).toEqual([])
  await agent.close()
})

test.runIf(isWhole)(
  "BEY-3, L4-29 the prompt from before the boundary is sent again; what changed since waits for the next one",
  async () => {
    const where = project({ "AGENTS.md": "The old rule.\n" })
    const { sim, of } = await compactingSimulator([...rounds(4, 500), "Two.", "Three.", "Four."])
    const agent = await compactingAgent(sim, { ...where, window: 200_000, settings: NO_NOTES })
    const { conversation: chat } = agent
    await ask(agent, "Read the words.")
    const before = serialiseRequest(await engineOf(chat).preparer.forkRequest())
    writeFileSync(join(where.cwd, "AGENTS.md"), "The new rule.\n")
    await chat.compact()
    expect(serialiseRequest(await engineOf(chat).preparer.forkRequest())).toContain("The new rule.")
    await chat.undo()
    expect(serialiseRequest(await engineOf(chat).preparer.forkRequest())).toBe(before)
    await ask(agent, "And now?")
    const sent = textsOf(of("work").at(-1)!.request).join("\n")
    expect(sent).toContain("The old rule.")
    expect(sent).not.toContain("The new rule.")
    await chat.compact()
    await ask(agent, "And then?")
    expect(textsOf(of("work").at(-1)!.request).join("\n")).toContain("The new rule.")
    expect(sim.log.every(({ status }) => status === 200)).toBe(true)
    await agent.close()
  },
)

test("BEY-3, L4-21 files that the compaction had shown again are no longer known after the undo", async () => {
  const where = project({ "a.txt": "This is a.\n" })
  const { sim } = await compactingSimulator([calls(["Read", { file_path: "a.txt" }]), ...rounds(4, 500), "Done."])
  const reads = new FileReads()
  const agent = await compactingAgent(sim, { ...where, reads, window: 200_000, settings: NO_NOTES })
  await ask(agent, "Go.")
  await agent.conversation.compact()
  expect([...reads.entries()].map(([path]) => path)).toEqual([join(where.cwd, "a.txt")])
  await agent.conversation.undo()
  expect([...reads.entries()]).toEqual([])
  await agent.close()
})

test("BEY-3 in a branch its own compaction is undone, and a compaction from before it too; the original stays", async () => {
  const { sim } = await compactingSimulator([...rounds(4, 500), "Two.", "Three."])
  const where = project()
  const agent = await compactingAgent(sim, { ...where, window: 200_000, settings: NO_NOTES })
  const { conversation: chat } = agent
  await ask(agent, "Read the words.")
  const whole = JSON.stringify((await engineOf(chat).preparer.forkRequest()).messages)
  await chat.compact()
  const compacted = JSON.stringify((await engineOf(chat).preparer.forkRequest()).messages)
  const branch = await chat.branch(engineOf(chat).views.context.newest!.uuid)
  const other = await compactingAgent(sim, { ...where, id: branch, window: 200_000, settings: NO_NOTES })
  expect(JSON.stringify((await engineOf(other.conversation).preparer.forkRequest()).messages)).toBe(compacted)
  await other.conversation.undo()
  expect(JSON.stringify((await engineOf(other.conversation).preparer.forkRequest()).messages)).toBe(whole)
  const copy = await other.conversation.branch(engineOf(other.conversation).views.context.newest!.uuid)
  await other.close()
  const third = await compactingAgent(sim, { ...where, id: copy, window: 200_000, settings: NO_NOTES })
  expect(JSON.stringify((await engineOf(third.conversation).preparer.forkRequest()).messages)).toBe(whole)
  await third.close()
  expect(JSON.stringify((await engineOf(chat).preparer.forkRequest()).messages)).toBe(compacted)
  await agent.close()
})

test("BEY-3 with everything switched off a compaction can still be undone, and nothing else is decided", async () => {
  const { sim } = await compactingSimulator([...rounds(4, 500), "Two."])
  const where = project()
  const agent = await compactingAgent(sim, { ...where, id: "one", window: 200_000, settings: NO_NOTES })
  await ask(agent, "Read the words.")
  const whole = JSON.stringify((await engineOf(agent.conversation).preparer.forkRequest()).messages)
  await agent.conversation.compact()
  await agent.close()
  const off = await compactingAgent(sim, { ...where, id: "one", window: 200_000, settings: { off: true } })
  await off.conversation.undo()
  expect(JSON.stringify((await engineOf(off.conversation).preparer.forkRequest()).messages)).toBe(whole)
  expect((await ask(off, "And now?")).end).toMatchObject({ reason: "answer" })
  expect(sim.log.every(({ status }) => status === 200)).toBe(true)
  await off.close()
})

test("BEY-3 without anything to undo there is a sentence, and nothing changes", async () => {
  const chat = await openTestConversation()
  await chat.add("Hello")
  await expect(chat.undo()).rejects.toThrow(/nothing to undo/i)
  await expect(chat.undo({ compaction: "none" })).rejects.toThrow(/Nothing was changed/)
  await chat.close()
})

test("JRN-5, L4-17 going back to the last message that a compaction kept keeps the summary; an earlier one brings back the messages", async () => {
  const { sim } = await compactingSimulator([...rounds(4, 500), "One.", "Two.", "Three.", "Four."])
  const where = project()
  const agent = await compactingAgent(sim, { ...where, window: 200_000, settings: NO_NOTES })
  const { conversation: chat } = agent
  await ask(agent, "Read the words.")
  await ask(agent, "Second question")
  const waiting = await chat.add("Third question")
  await chat.compact()
  const view = () =>
    engineOf(chat)
      .views.context.storedMessages()
      .map(({ uuid }) => uuid)
  const compacted = view()
  expect(compacted).toContain(waiting)
  const sent = async () => JSON.stringify((await engineOf(chat).preparer.forkRequest()).messages)
  const before = await sent()
  await chat.record({ id: "msg_x", content: [{ type: "text", text: "An answer to go back from." }] })
  await chat.rewind(waiting)
  expect(view()).toEqual(compacted)
  expect(await sent()).toBe(before)
  const id = await chat.branch(waiting)
  const branch = await compactingAgent(sim, { ...where, id, window: 200_000, settings: NO_NOTES })
  expect(JSON.stringify((await engineOf(branch.conversation).preparer.forkRequest()).messages)).toBe(before)
  await branch.close()
  const earlier = chat.userMessages().messages.find(({ text }) => text === "Second question")!.uuid
  await chat.rewind(earlier)
  expect(await sent()).not.toContain("Summary")
  expect(await sent()).toContain("Read the words.")
  await agent.close()
})
