/** `strata dashboard`: conversations as live pages, until Ctrl-C. */
import { readArguments } from "../arguments.ts"
import type { Run } from "../command.ts"
import { findById } from "../conversation-names.ts"
import { DASHBOARD } from "../descriptions.ts"
import { showPages } from "../show-pages.ts"
import { conversationsIn } from "../stored-conversation.ts"
import { dashboardSource } from "./all-conversations.ts"

export const run: Run = async ({ args, cwd, env, terminal }) => {
  const { values, operands } = readArguments(DASHBOARD, args)
  const [named] = operands
  const id =
    named === undefined ? undefined : findById(named, await conversationsIn({ cwd, env, alsoUnowned: true })).id
  const { source, close } = await dashboardSource({ cwd, env })
  try {
    return await showPages({ source, terminal, env, id, port: values.port, isQuiet: values["no-open"] })
  } finally {
    await close()
  }
}
