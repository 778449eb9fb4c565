/** Strata's loop and tools: takes a task, yields events while the agent works, and returns the result. */
import { anthropicModel, codingTools, openAgent, type QueryEnd, type QueryEvent } from "@strata/core"

export interface Task {
  readonly text: string
  readonly cwd: string
  readonly apiKey: string
  readonly baseURL?: string
  /** Directory of the conversation. Default: STRATA_HOME, else ~/.strata. */
  readonly dir?: string
  readonly render: (event: QueryEvent) => void
}

export async function workOn({ text, cwd, apiKey, baseURL, dir, render }: Task): Promise<QueryEnd | undefined> {
  await using agent = await openAgent({
    model: anthropicModel({ model: "claude-opus-5-5", apiKey, ...(baseURL ? { baseURL } : {}) }),
    tools: codingTools(),
    cwd,
    ...(dir ? { dir } : {}),
    mode: "accept-edits", // edits in the project are allowed; other commands are denied, because nobody can answer
  })
  let end: QueryEnd | undefined
  for await (const event of agent.query(text, { maxTurns: 50 })) {
    render(event)
    if (event.type === "done") end = event
  }
  return end
}
