/**
 * `strata compact-messages`: compaction for other agents. Reads one JSON request from standard input and writes one JSON response to
 * standard output.
 */
import { text } from "node:stream/consumers"
import { handleRequest, handleSessionStartHook } from "@strata/plugins"
import { readArguments } from "../arguments.ts"
import { type Run, UsageError } from "../command.ts"
import { COMPACT_MESSAGES } from "../descriptions.ts"

export const run: Run = async ({ args, env, terminal, stdin }) => {
  const { values } = readArguments(COMPACT_MESSAGES, args)
  if (!stdin || stdin.isTTY)
    throw new UsageError(
      'strata compact-messages reads a JSON request from a pipe. "strata compact-messages --help" says what is in it.',
    )
  const request = await text(stdin)
  terminal.print(
    `${JSON.stringify(await (values.hook ? handleSessionStartHook(request, env) : handleRequest(request, env)))}\n`,
  )
  return 0
}
