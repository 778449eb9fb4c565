/** `strata chat`: a conversation in the terminal. */
import { render } from "ink"
import { type Call, UsageError } from "../command.ts"
import { connectionFrom, NO_KEY } from "../connection.ts"
import { EXIT } from "../exit-codes.ts"
import { findConversation, openWorkspace } from "../session.ts"
import { readCommandLine, SHARED_OPTIONS_HELP } from "../session-options.ts"
import { type Chat, openChat } from "./chat.ts"
import { helpLines } from "./panels.ts"
import { SLASH_COMMANDS } from "./slash-commands.ts"
import { App } from "./view/app.ts"
import { h } from "./view/element.ts"
import { ThemeContext, themeFor } from "./view/theme.ts"

export const help = `strata chat: a conversation with a model that works in this directory.

Usage
  strata chat [options]

Options
${SHARED_OPTIONS_HELP}
  --help

In the chat
${helpLines(SLASH_COMMANDS)
  .map((line) => `  ${line}`.trimEnd())
  .join("\n")}

Examples
  strata chat
  strata chat --continue
  strata chat --resume                 choose from a list
  strata chat --mode plan --model claude-sonnet-5-5
`

export async function run({ args, cwd, env, terminal }: Call): Promise<number> {
  const { options, positionals, wantsHelp } = readCommandLine({ args, env, cwd })
  if (wantsHelp) {
    terminal.print(help)
    return EXIT.answer
  }
  if (positionals.length > 0)
    throw new UsageError(
      `strata chat takes no task. Give it in the chat, or run it: strata run "${positionals.join(" ")}"`,
    )
  const connection = connectionFrom(env)
  if (!connection) {
    terminal.complain(NO_KEY)
    return EXIT.noKey
  }
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new UsageError('strata chat needs a terminal. Without one: strata run "task"')
  const workspace = await openWorkspace({ options, connection, env })
  const choosesFromList = options.beginning.from === "list"
  const chat = await openChat(
    workspace,
    choosesFromList ? undefined : await findConversation(workspace, options.beginning),
  )
  if (choosesFromList) chat.perform("/resume")
  await show(chat, terminal.style.isColorSupported)
  terminal.print(farewell(chat))
  return EXIT.answer
}

async function show(chat: Chat, hasColours: boolean): Promise<void> {
  process.stdin.setRawMode(true) // before anything is seen: what is typed at once must not be echoed by the terminal
  const app = render(h(ThemeContext.Provider, { value: themeFor(hasColours) }, h(App, { chat })), {
    exitOnCtrlC: false,
    interactive: true,
  })
  process.once("SIGTERM", () => chat.leave()).once("SIGHUP", () => chat.leave())
  await chat.left
  await chat.close()
  app.rerender(null) // the conversation stays on the screen, the input line does not
  app.unmount()
  await app.waitUntilExit()
}

function farewell({ agent }: Chat): string {
  return agent.chat.views.context.isEmpty ? "" : `To go on: strata chat --resume ${agent.chat.id}\n`
}
