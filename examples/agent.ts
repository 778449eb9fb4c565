/** Strata's loop and tools: takes a task, reports events while it works, and returns how it ended. */
import { anthropicModel, openAgent, type QueryEnd, type QueryEvent } from "@strata/core/agent"
import { FileReads, fileTools, openShellTools } from "@strata/core/tools"

export interface Task {
  readonly text: string
  readonly cwd: string
  readonly apiKey: string
  readonly baseURL?: string
  /** The directory for the conversation. Default: STRATA_HOME, else ~/.strata. */
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
    mode: "accept-edits", // allows edits in the project; denies commands that change things, as there is no person to ask
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
