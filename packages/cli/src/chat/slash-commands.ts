/** The slash commands of the chat, as a table: `/help` prints it, Tab completes from it, typos get a suggestion from it. */

import { PERMISSION_MODES } from "@strata/core"
import { EXPORT_FORMATS } from "@strata/transcripts"
import { readClearRequest, readCompactRequest, readUndoRequest } from "../compacting.ts"
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
import type { CommandTarget } from "./command-target.ts"
import { copyAnswer } from "./copy-command.ts"
import { fold, snip, unfold } from "./fold-commands.ts"
import { init } from "./init-command.ts"
import { mcp } from "./mcp-panel.ts"
import { resume } from "./resume-command.ts"
import { rewind } from "./rewind.ts"
import { showStatus } from "./status-panel.ts"
import { showTasks } from "./tasks-panel.ts"

export interface SlashCommand {
  readonly name: string
  readonly usage: string
  readonly about: string
  /** Refused while the agent works, because it would change the conversation under it. */
  readonly needsRest?: true
  run(chat: CommandTarget, argument: string): void | Promise<void>
}

/** What few people use, and what takes long to load, is loaded when it is called: the chat is drawn before anything else. */
export const SLASH_COMMANDS: readonly SlashCommand[] = [
  {
    name: "help",
    usage: "/help",
    about: "show this list",
    run: (chat, argument) => showHelp(chat, { builtIn: SLASH_COMMANDS, argument }),
  },
  { name: "context", usage: "/context", about: "show what fills the window and what was kept out", run: showContext },
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
    about: "take back a compaction, clearing, fold or snip",
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

/** The command in a line; `undefined` where the line is a message, a path for example. */
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

/** Completes a command's name, if only one starts like this. */
export function completeCommand(text: string): string | undefined {
  if (!/^\/[a-z]*$/.test(text)) return undefined
  const fitting = SLASH_COMMANDS.filter(({ name }) => name.startsWith(text.slice(1)))
  return fitting.length === 1 ? `/${fitting[0]!.name} ` : undefined
}
