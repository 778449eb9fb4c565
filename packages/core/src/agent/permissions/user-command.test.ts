/** Shell commands that the user runs, in a real shell. */
import { expect, test } from "vitest"
import { ask, calling, scene } from "../../../test/scripted-agent.ts"
import { engineOf } from "../../conversation/conversation.ts"
import { codingTools } from "../tools/toolsets.ts"

const SIGNAL = new AbortController().signal
const run = (command: string) => ({ command, signal: SIGNAL, progress: () => undefined })
const OPTIONS = {
  tools: codingTools(),
  env: { PATH: process.env.PATH, ANTHROPIC_API_KEY: "sk-secret-value-1234567890" },
}

test("runs without a question and without keys, and the model gets it with the next message", async () => {
  const { open, requests } = scene()
  const agent = await open(["Hello."], OPTIONS)
  const { content } = await agent.runCommand(run("echo out; echo key=$ANTHROPIC_API_KEY; exit 3"))
  expect(content).toBe("Exit code 3\nout\nkey=")
  await ask(agent, "What happened?")
  const sent = JSON.stringify(requests[0]!.messages)
  expect(sent).toContain("The user ran this command in the shell")
  expect(sent).toContain("Exit code 3")
  expect(engineOf(agent.conversation).views.words.messages).toHaveLength(1)
})

test("a resumed conversation has the command that no message has followed", async () => {
  const { open, requests } = scene()
  const first = await open(["Hello."], OPTIONS)
  await ask(first, "Hi")
  await first.runCommand(run("echo before the end"))
  await first.close()
  const second = await open(["Yes."], OPTIONS)
  await ask(second, "Do you see it?")
  expect(JSON.stringify(requests.at(-1)!.messages.at(-1))).toContain("before the end")
})

test("CACHE-1 while the agent works, what was sent stays as it is: the command comes with the next request", async () => {
  const { open, requests } = scene()
  const agent = await open([calling("Glob", { pattern: "*" }), "Done.", "Yes."], OPTIONS)
  for await (const event of agent.query("go")) {
    if (event.type === "request") await agent.runCommand(run(`echo in turn ${event.turn}`))
  }
  await ask(agent, "And now?")
  const [one, two, three] = requests.map(({ messages }) => messages)
  expect(JSON.stringify(two!.slice(0, one!.length))).toBe(JSON.stringify(one))
  expect(JSON.stringify(three!.slice(0, two!.length))).toBe(JSON.stringify(two))
  expect(JSON.stringify(two!.at(-1))).toContain("in turn 1")
  expect(JSON.stringify(three!.at(-1))).toContain("in turn 2")
})

test("a stopped command says so, and a cd does not move the agent", async () => {
  const { open, cwd } = scene()
  const agent = await open([], OPTIONS)
  const stop = new AbortController()
  const running = agent.runCommand({
    command: "echo begun; sleep 60",
    signal: stop.signal,
    progress: () => stop.abort(),
  })
  // bash also prints a message if the child ends first
  expect((await running).content).toMatch(/^Interrupted\..*\nbegun(?:\nTerminated)?$/)
  await agent.runCommand(run("cd /"))
  expect(agent.shared.state.directory).toBe(cwd)
})
