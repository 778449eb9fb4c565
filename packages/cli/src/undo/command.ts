/** `strata undo`: undoes the last compaction, or the last manual clearing, fold or snip. */
import { describeUndo } from "@strata/page"
import { readArguments } from "../arguments.ts"
import type { Run } from "../command.ts"
import { UNDO } from "../descriptions.ts"
import { jsonForTerminal } from "../display/visible.ts"
import { openStoredConversation } from "../stored-conversation.ts"

export const run: Run = async ({ args, cwd, env, terminal }) => {
  const { values } = readArguments(UNDO, args)
  const isDryRun = values["dry-run"]
  const chat = await openStoredConversation({ cwd, env, id: values.conversation })
  try {
    const report = await chat.undo({ keepLater: !values["drop-later"], dryRun: isDryRun, by: "command" })
    const text = values.json
      ? jsonForTerminal({ conversation: chat.id, ...report }, 2)
      : describeUndo(report, { isDryRun })
    terminal.print(`${text}\n`)
    return 0
  } finally {
    await chat.close()
  }
}
