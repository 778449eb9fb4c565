/** `strata carry`: what other agents ask when they compact. One JSON request on standard input, one JSON answer on standard output. */
import { text } from "node:stream/consumers"
import { answerCarry, readCarryRequest } from "@strata/plugins"
import { readArguments } from "../arguments.ts"
import { type Run, UsageError } from "../command.ts"
import { CARRY } from "../descriptions.ts"

export const run: Run = async ({ args, env, terminal, stdin }) => {
  readArguments(CARRY, args)
  if (!stdin || stdin.isTTY)
    throw new UsageError('strata carry reads a JSON request from a pipe. See "strata carry --help".')
  const answer = await answerCarry(readCarryRequest(await text(stdin)), env)
  terminal.print(`${JSON.stringify(answer)}\n`)
  return 0
}
