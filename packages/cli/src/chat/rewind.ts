/** `/rewind`: asks for the message to go back to, says what happens to files, and hands the choice to the chat. */
import type { RestorePlan } from "@strata/core"
import { escaped } from "../display/escaped.ts"
import { counted, timeAgo } from "../display/numbers.ts"
import { restoreLines } from "../display/restored.ts"
import { firstLine } from "../display/text.ts"
import type { CommandTarget, RestoreChoice } from "./command-target.ts"

export async function rewind(chat: CommandTarget): Promise<void> {
  const { conversation } = chat.agent
  const messages = conversation.views.words.messages.toReversed()
  if (messages.length === 0) return chat.notice("There is no message to go back to yet.")
  const options = messages.map(({ text, timestamp }) => ({
    label: firstLine(text, 60),
    hint: timeAgo(new Date(timestamp), chat.now()),
  }))
  const answer = await chat.ask({ title: "Go back to which message?", options })
  if (answer.type !== "chosen") return
  const { uuid } = messages[answer.index]!
  const plan = await conversation.planRestore(uuid)
  const files = plan.files.length + plan.more === 0 ? "leave" : await askAboutFiles(chat, plan)
  if (files === "cancel") return chat.notice("Nothing was changed.")
  await chat.rewind(uuid, files === "leave" ? undefined : files)
}

type FilesChoice = RestoreChoice | "leave" | "cancel"

async function askAboutFiles(chat: CommandTarget, plan: RestorePlan): Promise<FilesChoice> {
  const possible = plan.files.filter(({ does }) => does !== "leave")
  const count = plan.files.length + plan.more
  const only = { label: "Go back in the conversation only", letter: "c", hint: "files stay as they are now" }
  const both = {
    label: "Go back and restore files",
    letter: "f",
    hint: `${counted(possible.length, "file")} of ${count}`,
  }
  const cancel = { label: "Cancel", letter: "n" }
  const choices = [
    [only, "leave"],
    ...(possible.length > 0 ? ([[both, "restore"]] as const) : []),
    [cancel, "cancel"],
  ] as const
  const answer = await chat.ask({
    title: `The agent changed ${counted(count, "file")} after that message.`,
    why: possible.length > 0 ? "Restoring would do this:" : "None of them can be restored:",
    body: { form: "text", text: restoreLines(plan).join("\n") },
    options: choices.map(([option]) => option),
  })
  const chosen = answer.type === "chosen" ? choices[answer.index]![1] : "cancel"
  return chosen === "restore" ? askToOverwrite(chat, plan) : chosen
}

/** Files that are not as the agent left them hold someone else's work. */
async function askToOverwrite(chat: CommandTarget, plan: RestorePlan): Promise<FilesChoice> {
  const changed = plan.files.filter(({ needsConsent }) => needsConsent)
  if (changed.length === 0) return { plan, overwrite: false }
  const answer = await chat.ask({
    title: `${counted(changed.length, "file is", "files are")} not as the agent left ${changed.length === 1 ? "it" : "them"}. Overwrite?`,
    body: { form: "text", text: changed.map(({ name, why }) => `${escaped(name)}: ${why}`).join("\n") },
    options: [
      { label: "No, restore only the others", letter: "n" },
      {
        label: "Yes, overwrite",
        letter: "y",
        hint: "the content of now is kept, and a later /rewind can bring it back",
      },
      { label: "Cancel" },
    ],
  })
  if (answer.type === "dismissed" || answer.index === 2) return "cancel"
  return { plan, overwrite: answer.index === 1 }
}
