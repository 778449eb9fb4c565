import { expect, test } from "vitest"
import { ask, scene } from "../../../test/scripted-agent.ts"
import { engineOf } from "../../conversation/conversation.ts"
import { codingTools } from "../tools/toolsets.ts"

const { signal } = new AbortController()
const bash = (command: string) => ({ tool: "Bash", input: { command } })

test("PERM-2 a call of the person's passes rules and questions, and stays out of the conversation", async () => {
  const { open, requests } = scene()
  const asked: string[] = []
  const agent = await open(["Yes."], {
    tools: codingTools(),
    env: { PATH: process.env.PATH ?? "" },
    settings: { permissions: { deny: ["Bash(rm:*)"] } },
    askPermission: ({ question }) => {
      asked.push(question.summary)
      return { allowed: false }
    },
  })
  expect(await agent.runForUser(bash("echo hello"), signal)).toEqual({
    state: "ran",
    text: "hello",
    isError: false,
    attachments: [],
  })
  expect(await agent.runForUser(bash("rm x"), signal)).toMatchObject({ state: "refused" })
  expect(asked).toEqual([])
  expect(await agent.runForUser(bash("touch x"), signal)).toEqual({ state: "refused", why: "the user said no" })
  expect(asked).toHaveLength(1)
  await agent.conversation.attach({ type: "mcp_prompt", server: "db", prompt: "report", content: "Always count rows." })
  await ask(agent, "/mcp__db__report")
  expect(JSON.stringify(requests[0]!.messages)).toContain("Always count rows.")
  expect(JSON.stringify(requests[0]!.messages)).not.toContain("hello")
  expect(engineOf(agent.conversation).views.words.messages.map(({ text }) => text)).toEqual(["/mcp__db__report"])
})
