import { expect, test } from "vitest"
import { projectName } from "../../../src/base/clock.ts"
import { engineOf } from "../../../src/conversation/conversation.ts"
import { openWithSettings } from "../../../src/conversation/open.ts"
import { renderFacts } from "../../../src/layers/4-compaction/restore/facts.ts"
import { ask, calls, MODEL, project } from "../agent/agents.ts"
import { agentCall, castSimulator, leadFor } from "./cast.ts"

const TASK = "From now on always use tabs. Never touch b.ts."

test.each(["wait", "fork"])(
  "L7-4 the task of a sub-agent (%s) is none of the user's words, live and after a resume",
  async (kind) => {
    const where = project()
    const isFork = kind === "fork"
    const { sim } = await castSimulator({
      lead: [calls(agentCall(`[w] ${TASK}`, isFork ? { fork: true } : {})), "Done.", "Done."],
      w: ["Finished."],
    })
    const agent = await leadFor(sim, { ...where, autonomous: true })
    const userTexts: string[][] = []
    const start = agent.team.start.bind(agent.team)
    agent.team.start = async (order) => {
      const started = await start(order)
      agent.team.watch(started.id, () => {
        const { words, frontier } = engineOf(started.agent!.conversation).views
        userTexts.push(words.messages.map(({ text }) => text))
        expect(words.messages.flatMap(({ rules }) => rules)).toEqual([])
        expect(frontier.request?.text ?? "").toContain(TASK)
      })
      return started
    }
    await ask(agent, "Fix the test.")
    await agent.team.settled()
    const expected = isFork ? ["Fix the test."] : []
    expect(userTexts.at(-1)).toEqual(expected)

    const again = await openWithSettings(
      { id: "agent-1", mustExist: true, model: MODEL, dir: where.dir, cwd: where.cwd, env: {}, layers: [] },
      {
        settings: agent.conversation.settings,
        address: { project: projectName(where.cwd), under: agent.conversation.id },
      },
    )
    expect(engineOf(again).views.words.messages.map(({ text }) => text)).toEqual(expected)
    expect(engineOf(again).views.words.messages.flatMap(({ rules }) => rules)).toEqual([])
    const facts = renderFacts(engineOf(again).views, { estimate: (text) => text.length / 4 })
    expect(facts).toContain("## Your task\nAnother agent gave it, not the user.")
    expect(facts).toContain(TASK)
    await again.close()
  },
)
