/** The part of the program that lists the commands and says its version: it has none of them. */
import { commandLine } from "./command-line.ts"
import { startWith } from "./start.ts"

export const start = (args: readonly string[]): Promise<void> => startWith(commandLine([]), args)
