/** Program around a fragment that continues with an agent that may start sub-agents. Their actions are printed at the end. */
import { codingTools, openAgent } from "@strata/core"

await using agent = await openAgent({ model: "claude-opus-5-5", tools: codingTools(), agents: true })
// BLOCK
for (const { id, kind, status } of agent.team.list()) console.log(id, kind, status)
