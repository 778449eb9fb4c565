/** Entry point for the list of commands and the version. Contains no command. */
import { commandLine } from "./command-line.ts"
import { startWith } from "./start.ts"

export const start = (args: readonly string[]): Promise<void> => startWith(commandLine([]), args)
