import { describe, expect, test } from "vitest"
import { isToolResult, textOf } from "../../../src/messages/blocks.ts"
import { ask, calls } from "../agent/agents.ts"
import { saying } from "../layers/conversations.ts"
import { agentCall, castSimulator, journalOf, leadFor, results } from "./cast.ts"

const NAMES = ["one", "two", "three", "four", "five"]

describe("forks by the Agent tool", () => {
  test("L7-2 five at once: the same bytes up to the directive, and from the second on at least 95% is read from the cache", async () => {
    const bodies: string[] = []
    const { sim, of } = await castSimulator({
      lead: [
        ...Array.from({ length: 6 }, () => saying(4_000)),
        calls(...NAMES.map((name) => agentCall(`[${name}] Do part ${name}.`, { fork: true }))),
        "They work.",
        ...NAMES.map(() => "Thanks."),
      ],
      ...Object.fromEntries(NAMES.map((name) => [name, [`Part ${name} is done.`]])),
    })
    const agent = await leadFor(sim, { autonomous: true, onBody: (body) => bodies.push(body) })
    const { end } = await ask(agent, "Split it into five.")
    expect(end.reason).toBe("answer")
    const before = NAMES.map((name) => untilDirective(bodies, name))
    expect(new Set(before).size).toBe(1)
    expect(before[0]).toContain("Still running: the result goes to the agent, not to you.")
    const [fork, lead] = [of("one")[0]!.request, of("lead")[6]!.request]
    expect([fork.tools, fork.system]).toEqual([lead.tools, lead.system])

    const { agents } = agent.conversation.ledger()
    expect(agents.map(({ requests }) => requests)).toEqual([1, 1, 1, 1, 1])
    for (const { tokens } of agents) {
      const input = tokens.input + tokens.cacheRead + tokens.cacheWrite
      expect(tokens.cacheRead / input).toBeGreaterThanOrEqual(0.95)
    }
    expect(results(await journalOf(agent)).map(({ content }) => content)).toEqual(
      NAMES.map((name) => `Part ${name} is done.`),
    )
  })

  test("L7-3 a fork that tries to fork, or to start any agent, is refused with a sentence and does the work itself", async () => {
    const { sim, of } = await castSimulator({
      lead: [calls(agentCall("[copy] Do it.", { fork: true })), "It works.", "Done."],
      copy: [calls(agentCall("[other] Do it for me.", { fork: true }), agentCall("[other] Or you.")), "I did it."],
      other: ["Never."],
    })
    const agent = await leadFor(sim, { autonomous: true })
    await ask(agent, "Fork.")
    expect(of("other")).toEqual([])
    const last = of("copy").at(-1)!.request.messages.at(-1)!
    const refused = last.content.filter((block) => isToolResult(block as never))
    expect(refused).toHaveLength(2)
    for (const block of refused) {
      expect(block.is_error).toBe(true)
      expect(textOf(block.content as string)).toContain("A fork cannot start another fork")
    }
    expect(agent.team.list()).toMatchObject([{ kind: "fork", status: "completed" }])
    expect(results(await journalOf(agent))).toMatchObject([{ content: "I did it." }])
  })
})

/** The bytes of the fork's request before its directive. */
function untilDirective(bodies: readonly string[], name: string): string {
  const directive = `\\n\\n[${name}] Do part ${name}.`
  const own = bodies.filter((body) => body.includes(directive))
  expect(own).toHaveLength(1)
  return own[0]!.slice(0, own[0]!.indexOf(directive))
}
