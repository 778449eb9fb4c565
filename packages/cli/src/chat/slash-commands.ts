/** The table of slash commands: `/help` prints it, Tab completes from it, and typos get a suggestion from it. */

import { spawn } from "node:child_process"
import { PERMISSION_MODES, type RestorePlan } from "@strata/core"
import { initPrompt } from "@strata/core/agent"
import { EXPORT_FORMATS } from "@strata/transcripts"
import { readClearRequest, readCompactRequest, readUndoRequest } from "../compact-request.ts"
import { escapeInvisible } from "../display/escaped.ts"
import { formatNumber, formatTimeAgo, pluralize } from "../display/numbers.ts"
import { restoreLines } from "../display/restored.ts"
import { firstLine } from "../display/text.ts"
import { escapeForTerminal } from "../display/visible.ts"
import type { Environment } from "../session-options.ts"
import { nearestTo } from "../suggestion.ts"
import { showAgents } from "./agents-panel.ts"
import {
  chooseMode,
  chooseModel,
  clearResults,
  compact,
  dream,
  nameConversation,
  showContext,
  showCost,
  showEditorSocket,
  showHelp,
  showMemory,
  showNotes,
  showTodos,
  undo,
} from "./command-actions.ts"
import type { CommandTarget, RestoreChoice } from "./command-target.ts"
import { fold, snip, unfold } from "./fold-commands.ts"
import { mcp } from "./mcp-panel.ts"
import { resume } from "./resume-command.ts"
import { showStatus } from "./status-panel.ts"
import { showTasks } from "./tasks-panel.ts"

// Copies a text to the clipboard: through the terminal (OSC 52), and with a program of the system if there is one.

const MAX_BYTES = 74_994 // limit of xterm for one sequence; many terminals drop longer ones
const PROGRAM_TIMEOUT_MS = 3_000 // in case the program waits for a display

export interface Clipboard {
  readonly env: Environment
  readonly platform: NodeJS.Platform
  /** Writes an unescaped sequence to the terminal. */
  readonly write: (sequence: string) => void
}

export interface CopyResult {
  /** Whether the text was sent to the terminal, which does not report success. */
  readonly byTerminal: boolean
  /** The program that copied the text. */
  readonly program?: string
}

export async function copyText(text: string, { env, platform, write }: Clipboard): Promise<CopyResult> {
  const encoded = Buffer.from(text).toString("base64")
  const byTerminal = encoded.length <= MAX_BYTES
  if (byTerminal) write(`\u001b]52;c;${encoded}\u0007`)
  for (const command of programsFor(env, platform))
    if (await copyWith(command, text, env)) return { byTerminal, program: command[0] }
  return { byTerminal }
}

type Program = readonly [name: string, ...args: readonly string[]]

function programsFor(env: Environment, platform: NodeJS.Platform): readonly Program[] {
  if (platform === "darwin") return [["pbcopy"]]
  if (platform === "win32") return [["clip.exe"]]
  return [
    ...(env.WAYLAND_DISPLAY ? ([["wl-copy"]] as const) : []),
    ...(env.DISPLAY ? ([["xclip", "-selection", "clipboard"]] as const) : []),
  ]
}

/** Variables that the clipboard program needs. It gets no others, and therefore no API key. */
const NEEDED = [
  "PATH",
  "HOME",
  "LANG",
  "LC_ALL",
  "DISPLAY",
  "XAUTHORITY",
  "WAYLAND_DISPLAY",
  "XDG_RUNTIME_DIR",
  "SystemRoot",
]
const neededBy = (env: Environment) =>
  Object.fromEntries(NEEDED.flatMap((name) => (env[name] ? [[name, env[name]]] : [])))

/** Passes the text on standard input, never as an argument. */
function copyWith([name, ...args]: Program, text: string, env: Environment): Promise<boolean> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(PROGRAM_TIMEOUT_MS)
    const child = spawn(name, args, { stdio: ["pipe", "ignore", "ignore"], env: neededBy(env), signal })
    child.once("error", () => resolve(false))
    child.once("exit", (code) => resolve(code === 0))
    child.stdin.on("error", () => undefined) // the program ended without reading
    child.stdin.end(text)
  })
}

// `/copy`: copies the last answer to the clipboard.

export async function copyAnswer(target: CommandTarget): Promise<void> {
  const answer = target.lastAnswer()
  if (answer === undefined) return target.notice("There is no answer to copy yet.")
  const text = escapeForTerminal(answer) // safe to paste into a terminal
  const { env } = target.place
  const copied = await copyText(text, {
    env,
    platform: process.platform,
    write: (sequence) => target.toTerminal(sequence),
  })
  target.notice(describeCopy(text, copied))
}

export function describeCopy(text: string, { byTerminal, program }: CopyResult): string {
  const size = `the last answer, ${formatNumber([...text].length)} characters`
  if (program !== undefined) return `Copied ${size} (${program}).`
  return byTerminal
    ? `Sent ${size}, to the terminal's clipboard. If it is not there, your terminal does not allow it (OSC 52).`
    : `Not copied: ${size}, too long for the terminal, and there is no clipboard program. /export writes a file.`
}

// `/init`: lets the agent write or improve the project's instruction file.

export async function init(target: CommandTarget, request: string): Promise<void> {
  await target.send(initPrompt({ directory: target.place.cwd, request }), `/init ${request}`.trim())
}

// `/rewind`: asks for the message to go back to, shows what happens to files, and passes the choice to the chat.

export async function rewind(chat: CommandTarget): Promise<void> {
  const { conversation } = chat.agent
  const messages = conversation.userMessages().messages.toReversed()
  if (messages.length === 0) return chat.notice("There is no message to go back to yet.")
  const options = messages.map(({ text, at }) => ({
    label: firstLine(text, 60),
    hint: formatTimeAgo(new Date(at), chat.now()),
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
  const possible = plan.files.filter(({ action }) => action !== "leave")
  const count = plan.files.length + plan.more
  const only = { label: "Go back in the conversation only", letter: "c", hint: "files stay unchanged" }
  const both = {
    label: "Go back and restore files",
    letter: "f",
    hint: `${pluralize(possible.length, "file")} of ${count}`,
  }
  const cancel = { label: "Cancel", letter: "n" }
  const choices = [
    [only, "leave"],
    ...(possible.length > 0 ? ([[both, "restore"]] as const) : []),
    [cancel, "cancel"],
  ] as const
  const answer = await chat.ask({
    title: `The agent changed ${pluralize(count, "file")} after that message.`,
    why: possible.length > 0 ? "Restoring would do this:" : "None of them can be restored:",
    body: { form: "text", text: restoreLines(plan).join("\n") },
    options: choices.map(([option]) => option),
  })
  const chosen = answer.type === "chosen" ? choices[answer.index]![1] : "cancel"
  return chosen === "restore" ? askToOverwrite(chat, plan) : chosen
}

/** Asks before files are overwritten that someone else has changed since. */
async function askToOverwrite(chat: CommandTarget, plan: RestorePlan): Promise<FilesChoice> {
  const changed = plan.files.filter(({ needsConsent }) => needsConsent)
  if (changed.length === 0) return { plan, overwrite: false }
  const answer = await chat.ask({
    title: `${pluralize(changed.length, "file is", "files are")} not as the agent left ${changed.length === 1 ? "it" : "them"}. Overwrite?`,
    body: { form: "text", text: changed.map(({ name, why }) => `${escapeInvisible(name)}: ${why}`).join("\n") },
    options: [
      { label: "No, restore only the others", letter: "n" },
      {
        label: "Yes, overwrite",
        letter: "y",
        hint: "the current content is saved, and a later /rewind can restore it",
      },
      { label: "Cancel" },
    ],
  })
  if (answer.type === "dismissed" || answer.index === 2) return "cancel"
  return { plan, overwrite: answer.index === 1 }
}

export interface SlashCommand {
  readonly name: string
  readonly usage: string
  readonly about: string
  /** Refused while the agent works, because the command changes the conversation. */
  readonly needsRest?: true
  run(chat: CommandTarget, argument: string): void | Promise<void>
}

/** All slash commands. Rarely used or slow modules load on demand, so that the chat is drawn first. */
export const SLASH_COMMANDS: readonly SlashCommand[] = [
  {
    name: "help",
    usage: "/help",
    about: "show this list",
    run: (chat, argument) => showHelp(chat, { builtIn: SLASH_COMMANDS, argument }),
  },
  {
    name: "context",
    usage: "/context",
    about: "show what fills the window",
    run: showContext,
  },
  { name: "cost", usage: "/cost", about: "show what the conversation cost and saved", run: showCost },
  { name: "status", usage: "/status", about: "show what this conversation runs with", run: showStatus },
  {
    name: "config",
    usage: "/config [all]",
    about: "show the settings and where they come from",
    run: async (...given) => (await import("./config-panel.ts")).showConfig(...given),
  },
  {
    name: "permissions",
    usage: "/permissions",
    about: "see, add and remove permission rules",
    run: async (chat) => (await import("./permissions-panel.ts")).showPermissions(chat),
  },
  { name: "tasks", usage: "/tasks", about: "see and stop what works in the background", run: showTasks },
  { name: "agents", usage: "/agents", about: "watch and stop agents; or: send NAME text", run: showAgents },
  { name: "mcp", usage: "/mcp", about: "MCP servers and their cost; or: tools, login NAME", run: mcp },
  { name: "todos", usage: "/todos", about: "show the agent's to-do list", run: showTodos },
  {
    name: "expand",
    usage: "/expand [n]",
    about: "show the last (or nth last) folded item in full",
    run: (chat, argument) => chat.expand(Number(argument) || 1),
  },
  {
    name: "compact",
    usage: "/compact [hint]",
    about: "make room; hint: what to keep, --prune, --dry-run",
    needsRest: true,
    run: async (chat, argument) => compact(chat, readCompactRequest(argument)),
  },
  {
    name: "fold",
    usage: "/fold [tokens]",
    about: "fold old exchanges into a line each; or --dry-run",
    needsRest: true,
    run: fold,
  },
  {
    name: "unfold",
    usage: "/unfold [handle]",
    about: "bring a folded or cut range back",
    needsRest: true,
    run: unfold,
  },
  {
    name: "snip",
    usage: "/snip [FROM TO]",
    about: "cut a range out of the view, or --dry-run",
    needsRest: true,
    run: snip,
  },
  {
    name: "clear-results",
    usage: "/clear-results N",
    about: "clear old tool results down to N tokens",
    needsRest: true,
    run: async (chat, argument) => clearResults(chat, readClearRequest(argument)),
  },
  {
    name: "undo",
    usage: "/undo",
    about: "undo a compaction, clearing, fold or snip",
    needsRest: true,
    run: async (chat, argument) => undo(chat, readUndoRequest(argument)),
  },
  { name: "notes", usage: "/notes", about: "show the agent's notes on this conversation", run: showNotes },
  {
    name: "memory",
    usage: "/memory [review]",
    about: "show what is remembered; review what is new",
    run: showMemory,
  },
  { name: "dream", usage: "/dream [now]", about: "show the dreams; or now, kill, review", run: dream },
  {
    name: "resume",
    usage: "/resume [id]",
    about: "another conversation, or of another program",
    needsRest: true,
    run: resume,
  },
  {
    name: "rewind",
    usage: "/rewind",
    about: "go back to an earlier message and edit it",
    needsRest: true,
    run: rewind,
  },
  { name: "copy", usage: "/copy", about: "copy the last answer to the clipboard", run: copyAnswer },
  {
    name: "export",
    usage: "/export [format] [file]",
    about: `write it as ${EXPORT_FORMATS.toReversed().join(", ")}`,
    run: async (...given) => (await import("./export-command.ts")).exportConversation(...given),
  },
  { name: "init", usage: "/init", about: "let the agent write or improve AGENTS.md", run: init },
  { name: "clear", usage: "/clear", about: "start a new conversation", needsRest: true, run: (chat) => chat.clear() },
  { name: "title", usage: "/title [text]", about: "name the conversation", run: nameConversation },
  { name: "model", usage: "/model [name]", about: "switch to another model", needsRest: true, run: chooseModel },
  { name: "mode", usage: "/mode [mode]", about: `set permissions: ${PERMISSION_MODES.join(", ")}`, run: chooseMode },
  { name: "editor", usage: "/editor", about: "print the socket for your editor's selection", run: showEditorSocket },
  { name: "exit", usage: "/exit", about: "leave; Strata keeps the conversation", run: (chat) => chat.leave() },
]

export type FoundCommand =
  | { readonly type: "command"; readonly command: SlashCommand; readonly argument: string }
  | { readonly type: "unknown"; readonly message: string }

/** The command in a line; `undefined` if the line is a message, for example a path. */
export function findCommand(line: string): FoundCommand | undefined {
  const match = /^\/([a-z-]*)(?:\s+(.*))?$/is.exec(line.trim())
  if (!match) return undefined
  const name = match[1]!.toLowerCase()
  const command = SLASH_COMMANDS.find((candidate) => candidate.name === name)
  if (command) return { type: "command", command, argument: match[2]?.trim() ?? "" }
  const meant = nearestTo(
    name,
    SLASH_COMMANDS.map((candidate) => candidate.name),
  )
  return {
    type: "unknown",
    message: `There is no command /${name}. ${meant ? `Did you mean /${meant}?` : "/help lists the commands."}`,
  }
}

/** Completes a command's name, if the prefix is unique. */
export function completeCommand(text: string): string | undefined {
  if (!/^\/[a-z]*$/.test(text)) return undefined
  const fitting = SLASH_COMMANDS.filter(({ name }) => name.startsWith(text.slice(1)))
  return fitting.length === 1 ? `/${fitting[0]!.name} ` : undefined
}
