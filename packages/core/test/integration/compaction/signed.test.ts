/** Summaries that the API writes and signs: requested if they cost less, sent back unchanged, and omitted if the API refuses them. */
import { describe, expect, test } from "vitest"
import type { Answer, ResponderTurn } from "../../../../sim/src/responder.ts"
import type { ScriptedTurn } from "../../../../sim/src/responders/scripted.ts"
import { client } from "../../../../sim/test/simulator.ts"
import type { Agent } from "../../../src/agent/agent.ts"
import { inputTokens } from "../../../src/base/text.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { openConversation } from "../../../src/conversation/open.ts"
import { tokenCounts } from "../../../src/tokens/models.ts"
import { serialiseRequest } from "../../../src/views/context/request.ts"
import { isWhole } from "../../size.ts"
import { ask, ofType, project } from "../agent/agents.ts"
import { saying } from "../layers/conversations.ts"
import {
  compactingAgent,
  compactingSimulator,
  decisionsOf,
  entriesOf,
  NO_NOTES,
  type ResponderOptions,
} from "./compacting.ts"

const THOUGHT = "The parser reads a line at a time, so the offset is the sum of the lines before. ".repeat(12)
const thinkingOf = { type: "thinking" as const, thinking: THOUGHT }

/** Rounds with this tool, each with a thought before its call. */
const thoughtful = (count: number, words: number): readonly ScriptedTurn[] => [
  ...Array.from({ length: count }, () => async (given: ResponderTurn) => {
    const answer = await (saying(words) as (turn: ResponderTurn) => Answer | Promise<Answer>)(given)
    return { content: [thinkingOf, ...answer.content] }
  }),
  { content: [thinkingOf, { type: "text", text: "Done." }] },
]

const scene = async (
  { turns = 14, ...parts }: ResponderOptions & { readonly turns?: number } = {},
  options: Parameters<typeof compactingAgent>[1] = {},
) => {
  const made = await compactingSimulator(thoughtful(turns, 1_000), parts)
  const where = project()
  const open = (more: Parameters<typeof compactingAgent>[1] = {}) =>
    compactingAgent(made.sim, { ...where, window: 200_000, settings: NO_NOTES, ...options, ...more })
  return { ...made, where, open, agent: await open() }
}

const refusals = ({ sim }: Awaited<ReturnType<typeof scene>>) => sim.log.filter(({ status }) => status !== 200)
const blocksIn = (request: { readonly messages: readonly { readonly content: unknown }[] }) =>
  request.messages.flatMap(({ content }) => content as readonly { readonly type: string }[])
const thoughtsIn = (request: Parameters<typeof blocksIn>[0]) =>
  blocksIn(request).filter(({ type }) => type === "thinking").length
const summaryOf = async (agent: Agent) =>
  (await entriesOf(agent)).findLast((entry) => entry.type === "user" && entry.isCompactSummary) as {
    readonly signed?: { readonly block: object; readonly text: string }
    readonly message: { readonly content: readonly { readonly text: string }[] }
  }

/** Some rounds of work, then a manual compaction during the work. */
async function compacted(made: Awaited<ReturnType<typeof scene>>) {
  await ask(made.agent, "Find out what the words say. Never use tabs.")
  await made.agent.conversation.compact()
  return made.agent.conversation
}

describe("L4-1, CACHE-6 where the work would lose its thinking, the API writes the summary", () => {
  test("it is asked for, installed and sent back byte for byte; thinking after it stays valid", async () => {
    const made = await scene()
    const chat = await compacted(made)
    expect(await decisionsOf(made.agent, "compacted")).toMatchObject([{ route: "server", audit: {} }])
    expect(await decisionsOf(made.agent, "thinking-dropped")).toEqual([])
    const { signed, message } = await summaryOf(made.agent)
    const request = await engineOf(chat).preparer.forkRequest()
    expect(request.messages[0]).toEqual({ role: "assistant", content: [signed!.block] })
    expect(thoughtsIn(request)).toBeGreaterThan(0)
    expect(JSON.stringify(request.messages.slice(1))).not.toContain("Primary Request")
    expect(message.content[0]!.text).toMatch(/A summary of it follows/)
    await ask(made.agent, "Go on.")
    expect(refusals(made)).toEqual([])
  })

  test.runIf(isWhole)("its request reads what is summarised from the cache, and the ledger has its cost", async () => {
    const made = await scene()
    await compacted(made)
    const [spent] = await decisionsOf(made.agent, "spent")
    expect(spent!.usage).toMatchObject({ input_tokens: 0, iterations: [{ type: "compaction" }] })
    const counts = tokenCounts(spent!.usage)
    expect(counts.cacheRead / inputTokens(counts)).toBeGreaterThan(0.85) // the rest are the instructions
    expect(counts.cacheWrite5m).toBe(0)
  })

  test.runIf(isWhole)(
    "JRN-3, BEY-3 a resume sends the same bytes, an undo those from before, and thinking stays valid in both",
    async () => {
      const made = await scene()
      await ask(made.agent, "Find out what the words say.")
      const before = serialiseRequest(await engineOf(made.agent.conversation).preparer.forkRequest())
      await made.agent.conversation.compact()
      const after = serialiseRequest(await engineOf(made.agent.conversation).preparer.forkRequest())
      expect(after).toContain('"type":"compaction"')
      const { id } = made.agent.conversation
      await made.agent.close()
      const again = await made.open({ id })
      expect(serialiseRequest(await engineOf(again.conversation).preparer.forkRequest())).toBe(after)
      await again.conversation.undo()
      expect(serialiseRequest(await engineOf(again.conversation).preparer.forkRequest())).toBe(before)
      await ask(again, "Go on.")
      expect(refusals(made)).toEqual([])
    },
  )

  test.runIf(isWhole)(
    "it can be compacted again: only the newest block is sent; a branch begins with it too",
    async () => {
      const made = await scene()
      const chat = await compacted(made)
      const first = (await summaryOf(made.agent)).signed!
      await ask(made.agent, "Once more.")
      await chat.compact()
      const second = (await summaryOf(made.agent)).signed!
      expect(second.block).not.toEqual(first.block)
      await ask(made.agent, "And again.")
      const sent = await engineOf(chat).preparer.forkRequest()
      expect(sent.messages[0]!.content).toEqual([second.block])
      expect(blocksIn(sent).filter(({ type }) => type === "compaction")).toHaveLength(1)
      const branch = await made.open({ id: await chat.branch(engineOf(chat).views.context.newest!.uuid) })
      await ask(branch, "Elsewhere.")
      expect((await engineOf(branch.conversation).preparer.forkRequest()).messages[0]!.content).toEqual([second.block])
      expect(refusals(made)).toEqual([])
    },
  )
})

describe("L4-1 where it is refused", () => {
  test.runIf(isWhole)("another route is taken, and the API is not asked again", async () => {
    const made = await scene()
    await ask(made.agent, "Find out what the words say.")
    const refused = { kind: "invalid-request", message: "compaction: Extra inputs are not permitted" } as const
    made.sim.faults.add({ fault: refused, times: 1 })
    await made.agent.conversation.compact()
    expect(await decisionsOf(made.agent, "compacted")).toMatchObject([{ route: "shared" }])
    await ask(made.agent, "Go on.")
    await made.agent.conversation.compact()
    expect(await decisionsOf(made.agent, "compacted")).toMatchObject([{ route: "shared" }, { route: "shared" }])
    expect(refusals(made)).toHaveLength(1)
  })

  test.runIf(isWhole)("a failed one, or one that says nothing true: another route", async () => {
    const made = await scene()
    await ask(made.agent, "Find out what the words say.")
    made.sim.faults.add({ fault: { kind: "failed-compaction" }, times: 1 })
    await made.agent.conversation.compact()
    expect(await decisionsOf(made.agent, "compacted")).toMatchObject([{ route: "shared" }])
  })

  test.runIf(isWhole)(
    "later: its text takes its place, the thinking bound to it goes, and the work goes on",
    async () => {
      const made = await scene()
      const chat = await compacted(made)
      made.sim.faults.add({ fault: { kind: "invalid-request", message: "compaction_signature_invalid" }, times: 1 })
      const { events, end } = await ask(made.agent, "Go on.")
      expect(end.reason).toBe("answer")
      expect(ofType(events, "notice")[0]!.message).toMatch(
        /^The API refused the request\. 1 block that it had sent itself/,
      )
      const request = await engineOf(chat).preparer.forkRequest()
      expect(JSON.stringify(request.messages[0])).toMatch(/A summary of it follows/)
      expect(blocksIn(request).some(({ type }) => type === "compaction")).toBe(false)
      const { id } = chat
      await made.agent.close()
      const again = await made.open({ id })
      await ask(again, "And now?")
      expect(refusals(made)).toHaveLength(1)
    },
  )

  test.runIf(isWhole)(
    "CACHE-6 another model gets the text, and the first one after it too; nothing is refused",
    async () => {
      const made = await scene()
      const { id } = await compacted(made)
      await made.agent.close()
      const other = await made.open({ id, name: "claude-sonnet-5-5" })
      await ask(other, "Go on.")
      const sent = made.of("work").at(-1)!.request
      expect(JSON.stringify(sent.messages[0])).toMatch(/A summary of it follows/)
      await other.close()
      const back = await made.open({ id })
      await ask(back, "And back.")
      expect(JSON.stringify(made.of("work").at(-1)!.request.messages[0])).toMatch(/A summary of it follows/)
      await back.close()
      expect(refusals(made)).toEqual([])
    },
  )

  test.runIf(isWhole)(
    "CACHE-6 a loop of your own that sends no betas gets the text, without the thinking that was bound to it",
    async () => {
      const made = await scene()
      const { id } = await compacted(made)
      await ask(made.agent, "Go on.")
      await made.agent.close()
      const sdk = client(made.sim)
      await using own = await openConversation({ ...made.where, id, model: "claude-opus-5-5", client: sdk })
      await own.add("And in a loop of my own?")
      const request = await own.prepare()
      expect(JSON.stringify(request)).not.toContain('"compaction"')
      await own.record(await sdk.messages.stream(request).finalMessage())
      expect(refusals(made)).toEqual([])
    },
  )
})

test("L4-1, L4-13 where no thinking would be lost, a fork is cheaper or as cheap: the summary can be mended", async () => {
  const { sim } = await compactingSimulator([...Array.from({ length: 14 }, () => saying(1_000)), "Done."])
  const agent = await compactingAgent(sim, { window: 200_000, settings: NO_NOTES })
  await ask(agent, "Find out what the words say.")
  const plan = await agent.conversation.planCompaction()
  expect(plan).toMatchObject({ routes: ["shared", "direct", "offline"] })
  await agent.conversation.compact()
  expect(await decisionsOf(agent, "compacted")).toMatchObject([{ route: "shared" }])
})

test.runIf(isWhole)(
  "L4-1 what the check finds wrong in a signed summary is reported after it: the block itself is unchanged",
  async () => {
    const WRONG = "/srv/nowhere/invented-file.ts"
    const made = await scene({
      summary: () =>
        `<summary>1. Primary Request and Intent: find out what the words say. The words were read with Grep, many of them. The file ${WRONG} was read. Next step: answer what the words say.</summary>`,
    })
    const chat = await compacted(made)
    expect(await decisionsOf(made.agent, "compacted")).toMatchObject([{ route: "server" }])
    const { signed, message } = await summaryOf(made.agent)
    expect(JSON.stringify(signed!.block)).toContain(WRONG)
    expect(signed!.text).toContain(`not found in the conversation: ${WRONG}`)
    expect(message.content[0]!.text).toContain(`[not found in the conversation: ${WRONG}]`)
    expect(JSON.stringify((await engineOf(chat).preparer.forkRequest()).messages.slice(1))).toContain("Wrong in it")
  },
)
