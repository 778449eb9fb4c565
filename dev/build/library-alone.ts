/**
 * An application that has only `@strata/core`: first a custom loop, then Strata's agent with tools whose packages are not installed. The
 * simulator is at ANTHROPIC_BASE_URL. Prints the outcome as one line of JSON.
 */
import { join } from "node:path"
import Anthropic from "@anthropic-ai/sdk"
import { codingTools, mcpServers, openAgent } from "@strata/core"
import { ask } from "../../examples/own-loop.ts"
import { readOnlyRunner, readOnlyTools } from "../../examples/read-only-tools.ts"

export interface AloneOutcome {
  readonly answered: boolean
  readonly agentEnd: string | undefined
  /** Problems that the agent reported at its start. */
  readonly problems: readonly string[]
}

async function main(): Promise<AloneOutcome> {
  const cwd = process.cwd()
  const dir = join(cwd, "home")
  const model = "claude-opus-5-5"
  const own = {
    client: new Anthropic(),
    model,
    system: "You look around.",
    tools: readOnlyTools,
    run: readOnlyRunner(cwd),
  }
  const chat = await ask(own, "What is here?", { dir })
  const { answered } = chat.workState()
  await chat.close()
  const tools = [codingTools(), mcpServers({ files: { command: "mcp-files" } })]
  await using agent = await openAgent({ model, tools, cwd, dir })
  let agentEnd: string | undefined
  for await (const event of agent.query("What is here?")) if (event.type === "done") agentEnd = event.reason
  return { answered, agentEnd, problems: agent.problems }
}

main().then((outcome) => console.log(JSON.stringify(outcome)))
