/** The part of the program that other agents start at each prompt and compaction: it has this command only. */
import { commandLine } from "../command-line.ts"
import { CARRY } from "../descriptions.ts"
import { startWith } from "../start.ts"

const carry = commandLine([{ ...CARRY, load: () => import("./command.ts") }])

export const start = (args: readonly string[]): Promise<void> => startWith(carry, args)
