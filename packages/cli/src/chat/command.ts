/** `strata chat`: a conversation in the terminal. */
import { render } from "ink"
import { type Call, type CommandDescription, UsageError } from "../command.ts"
import { connectionFrom, NO_KEY } from "../connection.ts"
import { CHAT } from "../descriptions.ts"
import { leaveScreen, takeScreen } from "../display/output.ts"
import { EXIT } from "../exit-codes.ts"
import { findConversation, openWorkspace } from "../session.ts"
import { readCommandLine, SESSION_OPTIONS } from "../session-options.ts"
import { decideTrust } from "../trust/chat-question.ts"
import { type Chat, openChat } from "./chat.ts"
import { KEYS } from "./keys.ts"
import { SLASH_COMMANDS } from "./slash-commands.ts"
import { App } from "./view/app.ts"
import { h } from "./view/element.ts"
import { ThemeContext, themeFor } from "./view/theme.ts"
import { tidyOnResize } from "./view/tidy-resize.ts"

export const description = {
  ...CHAT,
  operands: { value: "", least: 0, most: Number.POSITIVE_INFINITY },
  options: SESSION_OPTIONS,
  sections: [
    { title: "Commands in the chat", rows: SLASH_COMMANDS.map(({ usage, about }) => [usage, about]) },
    { title: "Keys in the chat", rows: KEYS },
  ],
} as const satisfies CommandDescription

export async function run({ args, cwd, env, terminal }: Call): Promise<number> {
  const { options, operands } = readCommandLine({ description, args, env, cwd })
  if (operands.length > 0)
    throw new UsageError(`strata chat takes no task. Type it in the chat, or use: strata run "${operands.join(" ")}"`)
  const connection = connectionFrom(env)
  if (!connection) {
    terminal.complain(NO_KEY)
    return EXIT.noKey
  }
  if (env.TERM === "dumb")
    throw new UsageError('strata chat draws on the screen, and TERM=dumb says that it cannot. Use: strata run "task"')
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new UsageError('strata chat needs a terminal. In scripts, use: strata run "task"')
  const asking = await openWorkspace({ options, connection, env })
  const decision = await decideTrust(asking, terminal)
  if (decision === "quit") return EXIT.answer
  const workspace = { ...asking, ...(decision ? { decision } : {}) }
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
  process.stdin.setRawMode(true) // first of all, so that the terminal does not echo early keys
  const stdout = takeScreen({
    stray: (text) => text.trim() !== "" && chat.notice(text.trimEnd()),
    leave: () => app.unmount(),
  })
  const screen = () => h(ThemeContext.Provider, { value: themeFor(hasColours) }, h(App, { chat }))
  const app = render(screen(), {
    stdout: tidyOnResize(stdout),
    patchConsole: false, // what other code prints becomes a notice
    exitOnCtrlC: false,
    interactive: true,
  })
  chat.lendScreen(async (work) => {
    const ignore = () => undefined // Ctrl-C is for the editor
    process.on("SIGINT", ignore)
    app.rerender(null) // without the input line, the terminal reads lines as usual
    await app.waitUntilRenderFlush()
    process.stdin.setRawMode(false)
    try {
      return await work()
    } finally {
      process.stdin.setRawMode(true)
      process.off("SIGINT", ignore)
      app.rerender(screen())
    }
  })
  // a signal does not wait: the second call leaves at once
  const leaveNow = () => {
    chat.leave()
    chat.leave()
  }
  process.once("SIGTERM", leaveNow).once("SIGHUP", leaveNow)
  await chat.left
  await chat.close()
  app.rerender(null) // the conversation stays on the screen without the input line
  leaveScreen()
  await app.waitUntilExit()
}

function farewell({ agent }: Chat): string {
  return agent.conversation.views.context.isEmpty ? "" : `To continue: strata chat --resume ${agent.conversation.id}\n`
}
