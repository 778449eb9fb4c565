/** The part of the program that other agents start with each session: it has this command only. */
import { commandLine } from "../command-line.ts"
import { MCP } from "../descriptions.ts"
import { registerNamedStore } from "../named-store.ts"
import { startWith } from "../start.ts"

const mcp = commandLine([{ ...MCP, load: () => import("./command.ts") }], registerNamedStore)

export const start = (args: readonly string[]): Promise<void> => startWith(mcp, args)
