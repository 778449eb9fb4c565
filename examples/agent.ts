/** Strata's loop and tools: a task in, events while it is worked on, and how it ended. */
import { anthropicModel, openAgent, type QueryEnd, type QueryEvent } from "@strata/core/agent"
import { FileReads, fileTools, openShellTools } from "@strata/core/tools"

export interface Task {
  readonly text: string
  readonly cwd: string
  readonly apiKey: string
  readonly baseURL?: string
  /** Where the conversation is kept. Default: STRATA_HOME, else ~/.strata. */
  readonly dir?: string
  readonly render: (event: QueryEvent) => void
}

export async function workOn({ text, cwd, apiKey, baseURL, dir, render }: Task): Promise<QueryEnd | undefined> {
  const shell = openShellTools()
  const agent = await openAgent({
    model: anthropicModel({ model: "claude-opus-5-5", apiKey, ...(baseURL ? { baseURL } : {}) }),
    tools: [...fileTools, ...shell.tools],
    reads: new FileReads(),
    cwd,
    ...(dir ? { dir } : {}),
    mode: "accept-edits", // edits in the project need no question; commands that change things are denied, as nobody is there to ask
  })
  try {
    let end: QueryEnd | undefined
    for await (const event of agent.query(text, { maxTurns: 50 })) {
      render(event)
      if (event.type === "done") end = event
    }
    return end
  } finally {
    await agent.close()
    await shell.close()
  }
}
