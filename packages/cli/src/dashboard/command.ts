/** `strata dashboard`: the conversations of this project as live pages, until Ctrl-C. */
import { readArguments } from "../arguments.ts"
import type { Run } from "../command.ts"
import { findById } from "../conversation-names.ts"
import { DASHBOARD } from "../descriptions.ts"
import { showPages } from "../show-pages.ts"
import { conversationsIn } from "../stored-conversation.ts"
import { projectSource } from "./source.ts"

export const run: Run = async ({ args, cwd, env, terminal }) => {
  const { values, operands } = readArguments(DASHBOARD, args)
  const [named] = operands
  const id =
    named === undefined ? undefined : findById(named, await conversationsIn({ cwd, env, alsoUnowned: true })).id
  const source = await projectSource({ cwd, env })
  return showPages({ source, terminal, env, id, port: values.port, isQuiet: values["no-open"] })
}
