/** Entry point for `compact-messages` only, because other agents start it at each prompt and compaction. */
import { commandLine } from "../command-line.ts"
import { COMPACT_MESSAGES } from "../descriptions.ts"
import { startWith } from "../start.ts"

const carry = commandLine([{ ...COMPACT_MESSAGES, load: () => import("./command.ts") }])

export const start = (args: readonly string[]): Promise<void> => startWith(carry, args)
