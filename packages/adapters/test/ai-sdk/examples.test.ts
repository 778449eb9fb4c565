/** The examples of the documentation, and other ways in which programs change their messages. */
import type { UIMessage } from "ai"
import { describe, expect, test } from "vitest"
import { isWhole } from "../../../core/test/size.ts"
import { chatRoute } from "../../examples/ai-sdk-chat-route.ts"
import { review } from "../../examples/ai-sdk-prepare-step.ts"
import { closeStrata } from "../../src/ai-sdk.ts"
import { journalsIn, type Program, program, SETTINGS, VERSIONS, type Version } from "./program.ts"

const strataFor = ({ dir, lines }: Program) => ({
  dir,
  cwd: "/nowhere",
  settings: SETTINGS,
  log: (line: string) => void lines.push(line),
})

describe("BEY-11 examples for the AI SDK", () => {
  test.runIf(isWhole)("a chat route that saves UI messages continues over windows and restarts", async () => {
    const given = await program(7)
    const { direct, tools, sim, responder, lines, dir } = given
    const saved = new Map<string, string>()
    const route = chatRoute({
      model: direct as never,
      tools,
      save: async (id, messages) => void saved.set(id, JSON.stringify(messages)),
      strata: strataFor(given),
    })
    for (const task of ["A", "B", "C", "D"]) {
      const before = JSON.parse(saved.get("chat-1") ?? "[]") as UIMessage[]
      const message = { id: `m-${task}`, role: "user", parts: [{ type: "text", text: `Task ${task}: 6 steps` }] }
      const body = JSON.stringify({ id: "chat-1", messages: [...before, message] })
      const answer = await route(new Request("http://localhost/api/chat", { method: "POST", body }))
      await answer.text()
      expect(saved.get("chat-1")).toContain(`Task ${task} is done after 6 steps, as you asked.`)
      await closeStrata()
    }
    expect(sim.stats().errors).toEqual({})
    expect(responder.summaries).toBeGreaterThan(0)
    expect(lines.filter((line) => !line.includes("compaction"))).toEqual([])
    expect(journalsIn(dir)).toHaveLength(1)
  })

  test("prepareStep", async () => {
    const given = await program(7)
    const { direct, tools, sim, dir, responder } = given
    const text = await review({ model: direct as never, tools, task: "Task A: 25 steps", strata: strataFor(given) })
    expect(text).toBe("Task A is done after 25 steps, as you asked.")
    expect(sim.stats().errors).toEqual({})
    expect(journalsIn(dir)).toHaveLength(1)
    expect(responder.summaries).toBeGreaterThan(0)
  })

  test.runIf(isWhole).each<Version>([7, 6])(
    "AI SDK %i: other tools and fewer messages from step to step are one conversation",
    async (version) => {
      const { ai } = VERSIONS[version]
      const { model, tools, sim, dir, responder, lines } = await program(version)
      const other = ai.tool({ inputSchema: ai.jsonSchema({ type: "object" }), execute: () => "nothing" })
      const { text } = await ai.generateText({
        model: model(),
        tools: { ...tools, other },
        prompt: "Task A: 25 steps",
        stopWhen: ai.stepCountIs(100),
        maxRetries: 0,
        prepareStep: ({ stepNumber, messages }) => ({
          activeTools: (stepNumber % 8 === 7 ? ["work"] : ["work", "other"]) as never[],
          messages: messages.length > 12 ? [messages[0]!, ...messages.slice(-8)] : messages,
        }),
      })
      expect(text).toBe("Task A is done after 25 steps, as you asked.")
      expect(Object.keys(sim.stats().errors)).toEqual([])
      expect(journalsIn(dir)).toHaveLength(1)
      expect(JSON.stringify(responder.asked.at(-1))).toContain("Task A: 25 steps")
      expect(lines.filter((line) => !line.includes("compaction"))).toEqual([])
    },
  )
})
