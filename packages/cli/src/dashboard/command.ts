/** `strata dashboard`: conversations as live pages, until Ctrl-C. */
import { readArguments } from "../arguments.ts"
import type { Run } from "../command.ts"
import { DASHBOARD } from "../descriptions.ts"
import { showPages } from "../show-pages.ts"
import { chooseConversation } from "../stored-conversation.ts"
import { dashboardSource } from "./all-conversations.ts"

export const run: Run = async ({ args, cwd, env, terminal }) => {
  const { values, operands } = readArguments(DASHBOARD, args)
  const [named] = operands
  const place = { cwd, env, owner: values.owner }
  // without a name, an empty list is shown; but an owner without conversations is probably misspelt
  const id =
    named === undefined && values.owner === undefined
      ? undefined
      : (await chooseConversation({ ...place, id: named, alsoUnowned: true })).id
  const { source, close } = await dashboardSource(place)
  try {
    return await showPages({
      source,
      terminal,
      env,
      id: named === undefined ? undefined : id,
      port: values.port,
      isQuiet: values["no-open"],
    })
  } finally {
    await close()
  }
}
