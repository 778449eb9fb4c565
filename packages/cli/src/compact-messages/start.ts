/** The part of the program that other agents start at each prompt and compaction: it has this command only. */
import { commandLine } from "../command-line.ts"
import { COMPACT_MESSAGES } from "../descriptions.ts"
import { startWith } from "../start.ts"

const carry = commandLine([{ ...COMPACT_MESSAGES, load: () => import("./command.ts") }])

export const start = (args: readonly string[]): Promise<void> => startWith(carry, args)
