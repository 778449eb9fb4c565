/** Entry point for `mcp` only, because other agents start it with each session. */
import { commandLine } from "../command-line.ts"
import { MCP } from "../descriptions.ts"
import { registerNamedStore } from "../named-store.ts"
import { startWith } from "../start.ts"

const mcp = commandLine([{ ...MCP, load: () => import("./command.ts") }], registerNamedStore)

export const start = (args: readonly string[]): Promise<void> => startWith(mcp, args)
