/**
 * From a person's own store to one that others share: the person sees what others will be able to read, and says yes. Nothing is written before.
 * An agent's command cannot say it.
 */
import type { Store } from "@strata/core"
import { type Choice, chosenIn, isCommandRunning, WRITING } from "@strata/core/store"
import { askForWord } from "../ask-for-word.ts"
import { type Call, UsageError } from "../command.ts"
import { counted } from "../display/numbers.ts"
import { printable } from "../display/visible.ts"

interface Sharing extends Choice, Pick<Call, "terminal"> {
  readonly from: Store
  readonly to: Store
  /** The person said so with the command. */
  readonly isAgreed: boolean
}

/** Whether the move may begin. */
export async function askFirst({ from, to, isAgreed, terminal, ...choice }: Sharing): Promise<boolean> {
  if (!to.isShared || from.isShared) return true
  const { conversations, memories, isAgentAtWork } = await lookedAt(from, choice)
  if (conversations + memories === 0) return true
  if (isAgentAtWork)
    throw new UsageError(
      "An agent is running a command in one of your projects, and it must not send your memories away. Nothing was moved. Wait for its end.",
    )
  if (isAgreed) return true
  const what = `${counted(conversations, "conversation")} and ${counted(memories, "memory file")}`
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true)
    throw new UsageError(
      `This would share ${what} with everyone who uses ${printable(to.description)}, and there is no terminal to ask you. Nothing was moved. If you want that, add --yes.`,
    )
  terminal.print(
    `${what} would go to ${printable(to.description)}.\nEveryone who uses that tenant, and their agents, will be able to read them.\n`,
  )
  if ((await askForWord("Share them? yes or no: ", ["yes", "no"])) === "yes") return true
  terminal.print("Nothing was moved.\n")
  return false
}

async function lookedAt(store: Store, choice: Choice) {
  const { all, isChosen } = await chosenIn(store, choice)
  const found = { conversations: 0, memories: 0, isAgentAtWork: false }
  for (const { address, files } of all) {
    // in any project: a command can name another one
    if (address.kind === "memories" && files.some(({ name }) => name.startsWith(`${WRITING}/`)))
      found.isAgentAtWork ||= await isCommandRunning(store.memories(address.place))
    if (!isChosen(address)) continue
    if (address.kind === "journal" && address.under === undefined) found.conversations++
    if (address.kind === "memories") found.memories += files.length
  }
  return found
}
