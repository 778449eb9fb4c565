/** The program with all its commands. Each loads when it is called. */
import { commandLine } from "./command-line.ts"
import { COMMANDS } from "./commands.ts"
import { registerNamedStore } from "./named-store.ts"
import { startWith } from "./start.ts"

export const strata = commandLine(COMMANDS, registerNamedStore)

export const start = (args: readonly string[]): Promise<void> => startWith(strata, args)
