/** Facts that a program's model saw before many compactions are in view, or one call of Recall away. */
import { describe, expect, test } from "vitest"
import { size } from "../../../core/test/size.ts"
import type { AnswerBlock, ResponderTurn } from "../../../sim/src/responder.ts"
import { AT_ONCE, type Message, newMessages, program, VERSIONS, type Version, Worker } from "./program.ts"

const FACTS = size(9, 43)
const COMPACTIONS = size(2, 10)
const number = (task: string, step: number) => (task.charCodeAt(0) * 7919 + step * 104_729) % 1_000_003
const nameOf = (task: string, step: number) => `depot${number(task, step).toString(36)}`
const codeOf = (task: string, step: number) => `c-${number(task, step * 31)}`

/** When asked for a code, answers from the view if it contains the code, and looks it up otherwise. */
function answersQuestions({ request: { messages }, nextToolUseId }: ResponderTurn): readonly AnswerBlock[] | undefined {
  const last = messages.at(-1)!
  const asked = messages.findLast(({ content }) =>
    content.some(({ type, text }) => type === "text" && /What is/.test(text!)),
  )
  const isNew = asked === last || messages.indexOf(asked!) === messages.length - 3
  const [, name] = /code of (depot\w+)/.exec(JSON.stringify(isNew ? asked : "")) ?? []
  if (!name) return undefined
  const found = new RegExp(`${name} has the code (c-\\d+)`).exec(JSON.stringify(messages))
  if (found) return [{ type: "text", text: `The code is ${found[1]}.` }]
  if (last.content.some(({ type }) => type === "tool_result")) return [{ type: "text", text: "I do not know." }]
  const input = { search: name }
  return [
    { type: "thinking", thinking: "It is no longer in view." },
    { type: "text", text: "I look it up." },
    { type: "tool_use", id: nextToolUseId(), name: "Recall", input },
  ]
}

describe.each<Version>(size([7], [7, 6]))("BEY-11 planted facts with AI SDK %i", (version) => {
  const { ai } = VERSIONS[version]

  test(`${FACTS} facts after ${COMPACTIONS} compactions`, async () => {
    const responder = new Worker(answersQuestions)
    const { model, tools, sim, lines } = await program(version, {
      responder,
      resultPrefix: ({ task, step }) => `${nameOf(task, step)} has the code ${codeOf(task, step)}\n`,
    })
    const messages: Message[] = []
    const ask = async (content: string) => {
      messages.push({ role: "user", content })
      const answer = ai.streamText({
        model: model({ settings: AT_ONCE }),
        tools,
        stopWhen: ai.stepCountIs(100),
        maxRetries: 0,
        messages,
      })
      const text = await answer.text
      messages.push(...(await newMessages(answer)))
      return text
    }
    const tasks: string[] = []
    while (responder.summaries < COMPACTIONS) {
      const task = String.fromCharCode(65 + tasks.length)
      tasks.push(task)
      expect(await ask(`Task ${task}: 12 steps`)).toBe(`Task ${task} is done after 12 steps, as you asked.`)
    }
    const facts = Array.from({ length: FACTS }, (_, at) => ({ task: tasks[at % tasks.length]!, step: 1 + (at % 12) }))
    let recalled = 0
    for (const { task, step } of facts) {
      const text = await ask(`What is the code of ${nameOf(task, step)}?`)
      if (text.startsWith("I look it up.")) recalled++
      expect(text).toContain(`The code is ${codeOf(task, step)}.`)
    }
    expect(recalled).toBeGreaterThan(0)
    expect(JSON.stringify(messages)).not.toContain("Recall")
    expect(sim.stats().errors).toEqual({})
    expect(lines.filter((line) => !line.includes("compaction"))).toEqual([])
  })
})
