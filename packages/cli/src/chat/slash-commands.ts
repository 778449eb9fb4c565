/** The commands of the chat, as a table: `/help` prints it, Tab completes from it, a misspelt one gets a suggestion from it. */
import { readFile } from "node:fs/promises"
import { type Agent, PERMISSION_MODES, type PermissionMode } from "@strata/core/agent"
import { type ConversationListing, MODEL_FACTS, repeatedReads, summarise } from "@strata/core/parts"
import { type CompactRequest, readCompactRequest } from "../compacting.ts"
import { planLines } from "../display/compaction.ts"
import { firstLine, timeAgo } from "../display/wording.ts"
import { findById } from "../session.ts"
import { nearestTo } from "../suggestion.ts"
import { contextLines } from "./context-panel.ts"
import { costLines } from "./cost-panel.ts"
import { notesWords } from "./memory-words.ts"
import { helpLines, PANEL_COLUMNS, todoLines } from "./panels.ts"
import type { Ask } from "./person.ts"
import { compactionStateOf, notesStateOf } from "./snapshot.ts"

/** What commands can do with the chat. */
export interface CommandTarget {
  readonly agent: Agent
  readonly ask: Ask
  now(): Date
  print(title: string, lines: readonly string[]): void
  notice(text: string): void
  conversations(): Promise<readonly ConversationListing[]>
  resume(conversation: ConversationListing): Promise<void>
  clear(): Promise<void>
  /** Compacts now, and shows how it goes. */
  compact(order: CompactRequest["order"]): Promise<void>
  switchModel(name: string): Promise<void>
  switchMode(mode: PermissionMode): void
  /** Goes back to before this message, which can then be said differently. */
  rewind(uuid: string): Promise<void>
  /** Shows the nth folded thing, counted from the newest. */
  expand(nth: number): void
  leave(): void
}

export interface SlashCommand {
  readonly name: string
  readonly usage: string
  readonly about: string
  /** It would change what the agent is working on, so it waits until that is over. */
  readonly needsRest?: true
  run(chat: CommandTarget, argument: string): void | Promise<void>
}

export const SLASH_COMMANDS: readonly SlashCommand[] = [
  {
    name: "help",
    usage: "/help",
    about: "this list",
    run: (chat) => chat.print("Commands and keys", helpLines(SLASH_COMMANDS)),
  },
  { name: "context", usage: "/context", about: "what fills the context, and what is kept out", run: showContext },
  { name: "cost", usage: "/cost", about: "what the conversation has cost and saved", run: showCost },
  { name: "todos", usage: "/todos", about: "the agent's list of things to do", run: showTodos },
  {
    name: "expand",
    usage: "/expand [n]",
    about: "show the last (or nth last) folded result",
    run: (chat, argument) => chat.expand(Number(argument) || 1),
  },
  {
    name: "compact",
    usage: "/compact [words]",
    about: "make room; words say what to keep; --dry-run",
    needsRest: true,
    run: async (chat, argument) => compact(chat, readCompactRequest(argument)),
  },
  { name: "notes", usage: "/notes", about: "what the agent has noted about the conversation", run: showNotes },
  { name: "resume", usage: "/resume [id]", about: "go on with another conversation", needsRest: true, run: resume },
  { name: "rewind", usage: "/rewind", about: "go back to an earlier message", needsRest: true, run: rewind },
  { name: "clear", usage: "/clear", about: "begin a new conversation", needsRest: true, run: (chat) => chat.clear() },
  { name: "title", usage: "/title [text]", about: "name the conversation", run: nameConversation },
  { name: "model", usage: "/model [name]", about: "go on with another model", needsRest: true, run: chooseModel },
  { name: "mode", usage: "/mode [mode]", about: `permissions: ${PERMISSION_MODES.join(", ")}`, run: chooseMode },
  { name: "exit", usage: "/exit", about: "leave; the conversation is kept", run: (chat) => chat.leave() },
]

export type FoundCommand =
  | { readonly type: "command"; readonly command: SlashCommand; readonly argument: string }
  | { readonly type: "unknown"; readonly message: string }

/** What a line that begins with a slash asks for; nothing where it is no command but words: a path, a comment. */
export function findCommand(line: string): FoundCommand | undefined {
  const match = /^\/([a-z]*)(?:\s+(.*))?$/is.exec(line.trim())
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
    message: `There is no command /${name}.${meant ? ` Did you mean /${meant}?` : ""} /help lists them.`,
  }
}

/** The rest of a command's name, where only one begins like this. */
export function completeCommand(text: string): string | undefined {
  if (!/^\/[a-z]*$/.test(text)) return undefined
  const fitting = SLASH_COMMANDS.filter(({ name }) => name.startsWith(text.slice(1)))
  return fitting.length === 1 ? `/${fitting[0]!.name} ` : undefined
}

async function compact(target: CommandTarget, { isDryRun, order }: CompactRequest): Promise<void> {
  if (!isDryRun) return target.compact(order)
  const planned = await target.agent.chat.planCompaction(order)
  if (planned.kind === "refused") target.notice(planned.message)
  else target.print("What /compact would do; nothing was changed", planLines(planned, PANEL_COLUMNS))
}

async function showNotes(target: CommandTarget): Promise<void> {
  const { path } = target.agent.chat.views.notes
  const text = path === undefined ? undefined : await readFile(path, "utf8").catch(() => undefined)
  if (path === undefined || text === undefined) target.notice(notesWords(notesStateOf(target.agent)))
  else target.print(path, text.trimEnd().split("\n"))
}

function showContext(target: CommandTarget): void {
  const { chat } = target.agent
  const { used, percentLeft } = chat.fill()
  target.print(
    "Context",
    contextLines({
      accounting: chat.accounting(),
      promptTokens: chat.views.context.promptTokens,
      used,
      percentLeft,
      thresholds: chat.thresholds,
      savings: summarise(chat.views.ledger).savings,
      compactions: compactionStateOf(target.agent),
      notes: notesStateOf(target.agent),
    }),
  )
}

function showCost(target: CommandTarget): void {
  const { chat, model } = target.agent
  const { ledger, cacheHistory } = chat.views
  target.print(
    "Cost",
    costLines({
      summary: summarise(ledger),
      lines: [...ledger.lines.values()],
      lostCaches: cacheHistory.totals,
      repeated: repeatedReads(chat.accounting(), model.facts),
    }),
  )
}

function showTodos(chat: CommandTarget): void {
  chat.print("Todos", todoLines(chat.agent.chat.views.frontier.todos))
}

async function resume(chat: CommandTarget, id: string): Promise<void> {
  const others = (await chat.conversations()).filter((conversation) => conversation.id !== chat.agent.chat.id)
  if (id !== "") return chat.resume(findById(id, others))
  if (others.length === 0) return chat.notice("There is no other conversation in this project.")
  const options = others.map((conversation) => ({
    label: labelOf(conversation),
    hint: hintOf(conversation, chat.now()),
  }))
  const answer = await chat.ask({ title: "Which conversation?", options })
  if (answer.type === "chosen") await chat.resume(others[answer.index]!)
}

const labelOf = ({ facts, firstWords, id }: ConversationListing): string =>
  facts?.title ?? (firstWords ? firstLine(firstWords, 60) : `(no title) ${id.slice(0, 8)}`)

function hintOf({ facts, touched }: ConversationListing, now: Date): string {
  return [timeAgo(new Date(touched), now), facts?.model].filter(Boolean).join(", ")
}

async function rewind(chat: CommandTarget): Promise<void> {
  const words = chat.agent.chat.views.words.messages.toReversed()
  if (words.length === 0) return chat.notice("Nothing has been said yet.")
  const options = words.map(({ text, timestamp }) => ({
    label: firstLine(text, 60),
    hint: timeAgo(new Date(timestamp), chat.now()),
  }))
  const answer = await chat.ask({ title: "Back to before which message?", options })
  if (answer.type === "chosen") await chat.rewind(words[answer.index]!.uuid)
}

async function nameConversation(target: CommandTarget, title: string): Promise<void> {
  const { chat } = target.agent
  if (title === "") {
    target.notice(
      chat.views.context.session?.title ?? "The conversation has no title. Give it one: /title A better name",
    )
    return
  }
  await chat.setTitle(title)
  target.notice(`The conversation is called "${title}" now.`)
}

async function chooseModel(chat: CommandTarget, name: string): Promise<void> {
  if (name !== "") return switchModel(chat, name)
  const models = MODEL_FACTS.map(({ id }) => id).filter((id) => id.startsWith("claude-"))
  const selected = Math.max(0, models.indexOf(chat.agent.model.facts.id))
  const answer = await chat.ask({ title: "Which model?", options: models.map((label) => ({ label })), selected })
  if (answer.type === "chosen") await switchModel(chat, models[answer.index]!)
}

async function switchModel(chat: CommandTarget, name: string): Promise<void> {
  if (name === chat.agent.model.name) chat.notice(`It is ${name} already.`)
  else await chat.switchModel(name)
}

const MODE_HINTS: Readonly<Record<PermissionMode, string>> = {
  ask: "ask before anything changes",
  "accept-edits": "edit in the project without asking",
  plan: "look and plan, change nothing",
  bypass: "ask nothing; deny rules still hold",
}

async function chooseMode(chat: CommandTarget, name: string): Promise<void> {
  const named = PERMISSION_MODES.find((mode) => mode === name)
  if (named) return chat.switchMode(named)
  if (name !== "") return chat.notice(`There is no mode "${name}". There are ${PERMISSION_MODES.join(", ")}.`)
  const options = PERMISSION_MODES.map((mode) => ({ label: mode, hint: MODE_HINTS[mode] }))
  const answer = await chat.ask({
    title: "Which permission mode?",
    options,
    selected: PERMISSION_MODES.indexOf(chat.agent.mode),
  })
  if (answer.type === "chosen") chat.switchMode(PERMISSION_MODES[answer.index]!)
}
