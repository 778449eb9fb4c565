/** `strata chat`: a conversation in the terminal. */
import { internalsOf } from "@strata/core/conversation"
import { render } from "ink"
import { askedEnvironment, userEnvironment } from "../claude/user-environment.ts"
import { type CommandCall, type CommandDescription, UsageError } from "../command.ts"
import { connectionFrom, NO_KEY } from "../connection.ts"
import { CHAT } from "../descriptions.ts"
import { leaveScreen, takeScreen } from "../display/output.ts"
import { EXIT } from "../exit-codes.ts"
import { findConversation, openWorkspace, type Workspace } from "../session.ts"
import { readCommandLine, SESSION_OPTIONS } from "../session-options.ts"
import { showWaiting } from "../store-waiting.ts"
import { endsWithProcess } from "../stored-conversation.ts"
import { decideTrust } from "../trust/chat-question.ts"
import type { Chat } from "./chat.ts"
import type { KeyTarget } from "./key-target.ts"
import { KEYS } from "./keys.ts"
import { beginChat, type OpeningChat } from "./opening-chat.ts"
import { SLASH_COMMANDS } from "./slash-commands.ts"
import { App } from "./view/app.ts"
import { h } from "./view/element.ts"
import { ThemeContext, themeFor } from "./view/theme.ts"
import { tidyOnResize } from "./view/tidy-resize.ts"

export const description = {
  ...CHAT,
  operands: { value: "", min: 0, max: Number.POSITIVE_INFINITY },
  options: SESSION_OPTIONS,
  sections: [
    { title: "Commands in the chat", rows: SLASH_COMMANDS.map(({ usage, about }) => [usage, about]) },
    { title: "Keys in the chat", rows: KEYS },
  ],
} as const satisfies CommandDescription

export async function run({ args, cwd, env: given, terminal }: CommandCall): Promise<number> {
  const asked = readCommandLine({ description, args, env: given, cwd })
  const { operands } = asked
  if (operands.length > 0)
    throw new UsageError(`strata chat takes no task. Type it in the chat, or use: strata run "${operands.join(" ")}"`)
  const isDrawable = given.TERM !== "dumb" && process.stdin.isTTY && process.stdout.isTTY
  const place = { cwd: asked.options.cwd, env: given }
  const env = isDrawable ? await askedEnvironment(place, terminal) : await userEnvironment(place)
  if (env === "quit") return EXIT.answer
  const { options } = readCommandLine({ description, args, env, cwd })
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
  const opening = await beginChat(workspace)
  const screen = show(opening, terminal.style.isColorSupported)
  let chat: Chat | undefined
  try {
    await screen.drawn
    chat = await openOnScreen({ screen, opening, workspace, calledFrom: cwd })
    await chat.left
    await chat.close()
  } finally {
    await screen.close()
    terminal.print(describeUnsent(opening))
  }
  terminal.print(farewell(chat))
  return EXIT.answer
}

interface OpenOptions {
  readonly screen: ChatScreen
  readonly opening: OpeningChat
  readonly workspace: Workspace
  /** Directory that file names on the command line are relative to. */
  readonly calledFrom: string
}

/** Opens the conversation while the user types, and then carries out the input sent meanwhile. */
async function openOnScreen({ screen, opening, workspace, calledFrom }: OpenOptions): Promise<Chat> {
  const { start } = workspace.options
  const choosesFromList = start.from === "list"
  const { openChat } = await import("./chat.ts") // loaded after the first frame, because the agent takes longer
  const found = choosesFromList ? undefined : await findConversation(workspace, { beginning: start, calledFrom })
  const resumed = found?.conversation
  const chat = await openChat({ workspace, resumed, store: opening.store, inputs: opening.inputs })
  for (const note of found?.notes ?? []) chat.notice(note)
  chat.lendScreen(screen.lend)
  chat.writeThrough(screen.write)
  screen.leaveBy(chat)
  void opening.handOver(chat, choosesFromList ? ["/resume"] : []).then(() => screen.keysTo(chat))
  return chat
}

interface ChatScreen {
  /** Resolves when the first frame is on the screen. */
  readonly drawn: Promise<void>
  readonly lend: Parameters<Chat["lendScreen"]>[0]
  /** Writes an escape sequence that draws nothing. */
  write(sequence: string): void
  keysTo(chat: KeyTarget): void
  /** From now on, signals leave this chat instead of ending the process. */
  leaveBy(chat: Chat): void
  /** Removes the input line; the conversation stays on the screen. */
  close(): Promise<void>
}

function show(opening: OpeningChat, hasColours: boolean): ChatScreen {
  process.stdin.setRawMode(true) // first, so that the terminal does not echo early keys
  const stdout = takeScreen({
    stray: (text) => text.trim() !== "" && opening.store.say(text.trimEnd(), "plain"),
    leave: () => app.unmount(),
  })
  const endWaiting = showWaiting((isWaiting) => opening.store.dispatch({ type: "store-waits", isWaiting }))
  let target: KeyTarget = opening
  const screen = () => h(ThemeContext.Provider, { value: themeFor(hasColours) }, h(App, { chat: target }))
  const app = render(screen(), {
    stdout: tidyOnResize(stdout),
    patchConsole: false, // output of other code becomes a notice
    exitOnCtrlC: false,
    interactive: true,
  })
  let leaveNow = (): void => {
    leaveScreen()
    process.exit(EXIT.answer) // nothing is open yet
  }
  const onSignal = () => leaveNow()
  process.once("SIGTERM", onSignal).once("SIGHUP", onSignal)
  let isClosed = false
  return {
    drawn: app.waitUntilRenderFlush(),
    async lend(work) {
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
    },
    write: (sequence) => void stdout.write(sequence),
    keysTo(chat) {
      target = chat
      if (!isClosed) app.rerender(screen())
    },
    leaveBy(chat) {
      leaveNow = () => {
        chat.leave()
        chat.leave() // a second call leaves at once, without waiting
      }
    },
    async close() {
      isClosed = true
      app.rerender(null)
      leaveScreen()
      endWaiting()
      await app.waitUntilExit()
    },
  }
}

/** The input that was typed but never sent, because the conversation did not open or the user left first. */
function describeUnsent(opening: OpeningChat): string {
  const lines = opening.unsent()
  return lines.length === 0 ? "" : `You typed this, but it was not sent:\n\n${lines.join("\n")}\n\n`
}

function farewell({ agent }: Chat): string {
  if (internalsOf(agent.conversation).views.context.isEmpty) return ""
  if (endsWithProcess(agent.conversation))
    return "STRATA_STORE is in memory, so this conversation cannot be continued.\n"
  return `To continue: strata chat --resume ${agent.conversation.id}\n`
}
