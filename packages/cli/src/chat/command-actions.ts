/** Actions of the slash commands: they print panels, ask for a conversation, model or mode, and pass the choice to the chat. */

import {
  type ClearingRequest,
  type Memory,
  PERMISSION_MODES,
  type PermissionMode,
  type UndoRequest,
} from "@strata/core"
import { internalsOf } from "@strata/core/conversation"
import { type DreamController, describeChange, dreamSettings, isCurrentMemory } from "@strata/core/memory"
import { createFlags } from "@strata/core/settings"
import { MODEL_FACTS, repeatedReads } from "@strata/core/tokens"
import { describeClearing, describeSource, describeSourceBriefly, describeUndo, fileStem } from "@strata/page"
import type { CompactRequest } from "../compact-request.ts"
import { planLines } from "../display/compaction.ts"
import { summarise } from "../display/ledger.ts"
import { shortenList } from "../display/long-list.ts"
import { describeAge, pluralize } from "../display/numbers.ts"
import { table } from "../display/table.ts"
import { wrapText } from "../display/text.ts"
import { escapeForTerminal, escapeToLine } from "../display/visible.ts"
import { describeDreamCost, statusLines } from "../dream/page.ts"
import { type AttachedMemories, attachedMemoryLines, findAttachedMemories } from "../memory/attached-memories.ts"
import { sortMemories } from "../memory/page.ts"
import { applyVerdict, unconfirmedIn } from "../memory/review.ts"
import type { CommandTarget } from "./command-target.ts"
import { type ContextPanelState, contextLines } from "./context-panel.ts"
import { type CostPanelState, costLines } from "./cost-panel.ts"
import { describeNotes } from "./notes-state.ts"
import { type HelpOptions, helpLines, todoLines } from "./panels.ts"
import { compactionStateOf, notesStateOf } from "./snapshot.ts"

// `/memory`: the memories of this project, and those attached in this conversation.

const MAX_ROWS = 20 // `strata memory` lists the rest
const MAX_OFFERS = 40 // lines

export interface MemoryPanelState {
  readonly memories: readonly Memory[]
  readonly location: string
  readonly offered: AttachedMemories
  readonly now: Date
}

export function memoryLines(
  { memories, location, offered, now }: MemoryPanelState,
  columns: number,
): readonly string[] {
  const current = sortMemories(memories.filter(isCurrentMemory))
  const shown = current.slice(0, MAX_ROWS)
  const rows = shown.map((memory) => [
    escapeToLine(fileStem(memory.file)),
    memory.type,
    describeAge(memory.confirmed, now),
    describeSourceBriefly(memory),
  ])
  const more = current.length - shown.length
  const seeAll = "strata memory why"
  const offers = shortenList(attachedMemoryLines(offered, columns), { isShort: true, max: MAX_OFFERS, seeAll })
  return [
    ...wrapText(
      current.length === 0
        ? `This project has no memories yet. They are stored in ${escapeToLine(location)}`
        : `${pluralize(current.length, "memory", "memories")} in ${escapeToLine(location)}`,
      columns,
    ),
    ...table({
      width: columns,
      columns: [{ title: "", gives: "end" }, { title: "", isMinor: true }, { title: "" }, { title: "", isMinor: true }],
      rows,
    }),
    ...(more === 0 ? [] : [`  and ${more} more: strata memory`]),
    ...unconfirmedNotice(unconfirmedIn(memories).length, columns),
    "",
    "In this conversation",
    ...offers.shown,
    ...offers.rest,
    "",
    ...wrapText("Start a line with # to remember it. strata memory shows, changes and undoes.", columns),
  ]
}

const unconfirmedNotice = (count: number, columns: number): readonly string[] =>
  count === 0
    ? []
    : wrapText(
        `${pluralize(count, "memory is", "memories are")} not confirmed. /memory review: one key confirms or drops each.`,
        columns,
      )

/** Argument of commands that shorten long lists: show the complete list. */
const ALL = "all"

export async function compact(target: CommandTarget, request: CompactRequest): Promise<void> {
  const { isDryRun, edits, order, clearing } = request
  if (clearing) return clearResults(target, { ...clearing, dryRun: isDryRun })
  if (!isDryRun) return target.compact({ ...order, ...(edits ? { review: ({ text }) => target.edit(text) } : {}) })
  const planned = await target.agent.conversation.planCompaction(order)
  if (planned.kind === "refused") target.notice(planned.message)
  else target.print("What /compact would do (nothing was changed)", (columns) => planLines(planned, columns))
}

export async function clearResults(target: CommandTarget, request: ClearingRequest): Promise<void> {
  const isDryRun = request.dryRun ?? false
  const report = await target.agent.conversation.clearResults(request)
  target.notice(describeClearing(report, { isDryRun }))
}

export async function undo(target: CommandTarget, request: UndoRequest): Promise<void> {
  if (!request.dryRun) return target.undo(request)
  const report = await target.agent.conversation.undo(request)
  target.notice(describeUndo(report, { isDryRun: true }))
}

export async function showNotes(target: CommandTarget): Promise<void> {
  const { conversation } = target.agent
  const { throughUuid, path = "Notes" } = internalsOf(conversation).views.notes
  const text = throughUuid === undefined ? undefined : await conversation.notes().catch(() => undefined)
  if (text === undefined) target.notice(describeNotes(notesStateOf(target.agent)))
  else target.print(path, text.trimEnd().split("\n"))
}

export async function showEditorSocket(target: CommandTarget): Promise<void> {
  const path = await target.editorSocket()
  target.print("Editor", [
    `Your editor can send its open file or selection to ${path}`,
    'One line of JSON each: {"file": "src/a.ts", "selection": {"text": "…", "startLine": 3, "endLine": 9}}',
    "The agent gets the newest one with your next message.",
  ])
}

export async function showMemory(target: CommandTarget, action = ""): Promise<void> {
  if (action.trim() === "review") return reviewMemory(target)
  const bank = await target.memory()
  const offered = await findAttachedMemories(target.agent.conversation.entries())
  const memories = await bank.all()
  const picture = { memories, location: bank.location, offered, now: target.now() }
  target.print("Memory", (columns) => memoryLines(picture, columns))
}

async function reviewMemory(target: CommandTarget): Promise<void> {
  const bank = await target.memory({ isChanged: true })
  const memories = unconfirmedIn(await bank.all())
  if (memories.length === 0) return target.notice("Every memory here is yours.")
  for (const [at, memory] of memories.entries()) {
    const answer = await target.ask({
      title: `${escapeToLine(memory.name)}: ${escapeToLine(describeSource(memory))} (${at + 1} of ${memories.length})`,
      body: { form: "text", text: escapeForTerminal(memory.body) },
      options: [
        { label: "Confirm it: it counts as yours", letter: "y" },
        { label: "Drop it: it goes to the archive", letter: "d" },
        { label: "Later", letter: "l" },
      ],
    })
    if (answer.type === "dismissed") return
    const verdict = (["confirm", "drop", "later"] as const)[answer.index]!
    target.notice(await applyVerdict(bank, memory, verdict))
  }
}

/** `/dream` shows the current dream; `now`, `kill` and `review` act. A dream of the chat runs in the background. */
export async function dream(target: CommandTarget, action: string): Promise<void> {
  const { dreaming, conversation } = target.agent
  if (!dreaming) return target.notice('Dreams are off, because memory may not be written (the setting "memory").')
  const figures = dreamSettings(createFlags({ settings: conversation.settings.values }).current)
  switch (action) {
    case "": {
      const overview = await dreaming.overview({ figures, conversation: conversation.id })
      const now = target.now()
      return target.print("Dreams", (columns) => statusLines(overview, { columns, now }))
    }
    case "now": {
      target.notice("Dreaming in the background. /dream shows how far it is, and /dream kill ends it.")
      const end = await target.agent.dream()
      for (const sentence of [end?.message, describeDreamCost(dreaming.state)]) if (sentence) target.notice(sentence)
      return
    }
    case "kill": {
      const answer = await dreaming.killAny()
      return target.notice(answer.state === "none" ? answer.why : "The dream was asked to stop.")
    }
    case "review":
      return reviewDream(target, dreaming)
    default:
      return target.notice(`There is no /dream ${action}. Use /dream, /dream now, /dream kill or /dream review.`)
  }
}

async function reviewDream(target: CommandTarget, dreaming: DreamController): Promise<void> {
  const pending = await dreaming.review()
  if (!pending) return target.notice("No dream waits for your consent.")
  const answer = await target.ask({
    title: `Install what the dream proposes? ${pending.reason}`,
    body: { form: "diff", text: pending.diff },
    options: [{ label: "Yes, install it", letter: "y" }, { label: "No, drop it", letter: "n" }, { label: "Later" }],
  })
  if (answer.type === "dismissed" || answer.index === 2) return target.notice("The dream still waits.")
  if (answer.index === 1) {
    await dreaming.reject()
    return target.notice("The change was dropped. The memory is unchanged.")
  }
  const installed = await dreaming.accept()
  if (installed.state === "installed") target.notice(describeChange(installed.change))
  else if (installed.state === "conflict")
    target.notice(`${installed.files.join(", ")} changed since. Nothing was installed, and the dream still waits.`)
  else target.notice("There was nothing left to change.")
}

export function showContext(target: CommandTarget): void {
  const { conversation: chat } = target.agent
  const { views, planner } = internalsOf(chat)
  const { used, percentLeft } = chat.windowUsage()
  const picture: ContextPanelState = {
    accounting: chat.accounting(),
    promptTokens: views.context.promptTokens,
    used,
    percentLeft,
    thresholds: chat.thresholds,
    savings: summarise(views.ledger).savings,
    compactions: compactionStateOf(target.agent),
    planner: { ...planner(), keepsWarm: target.agent.model.warm !== undefined },
    notes: notesStateOf(target.agent),
  }
  target.print("Context", (columns) => contextLines(picture, columns))
}

export function showCost(target: CommandTarget): void {
  const { conversation: chat, model } = target.agent
  const { ledger, cacheHistory } = internalsOf(chat).views
  const picture: CostPanelState = {
    summary: summarise(ledger),
    lines: [...ledger.lines.values()],
    agents: chat.ledger().agents,
    lostCaches: [...cacheHistory.totals],
    repeated: repeatedReads(chat.accounting(), model.facts),
  }
  target.print("Cost", (columns) => costLines(picture, columns))
}

export function showTodos(chat: CommandTarget, argument: string): void {
  const { todos } = chat.agent.conversation.workState()
  chat.print("Todos", (columns) => todoLines(todos, { columns, isWhole: argument === ALL }))
}

export async function showHelp(
  chat: CommandTarget,
  { builtIn, argument }: Pick<HelpOptions, "builtIn"> & { readonly argument: string },
): Promise<void> {
  const own = await chat.customCommands()
  chat.print("Commands and keys", (columns) => helpLines({ builtIn, own }, { columns, isWhole: argument === ALL }))
}

export async function nameConversation(target: CommandTarget, title: string): Promise<void> {
  const { conversation: chat } = target.agent
  if (title === "") {
    target.notice(
      internalsOf(chat).views.context.session?.title ??
        "The conversation has no title. Give it one: /title A better name",
    )
    return
  }
  await chat.setTitle(title)
  target.notice(`The conversation is now called "${title}".`)
}

export async function chooseModel(chat: CommandTarget, name: string): Promise<void> {
  if (name !== "") return switchModel(chat, name)
  const models = MODEL_FACTS.map(({ id }) => id).filter((id) => id.startsWith("claude-"))
  const selected = Math.max(0, models.indexOf(chat.agent.model.facts.id))
  const answer = await chat.ask({
    title: "Switch to which model?",
    options: models.map((label) => ({ label })),
    selected,
  })
  if (answer.type === "chosen") await switchModel(chat, models[answer.index]!)
}

async function switchModel(chat: CommandTarget, name: string): Promise<void> {
  if (name === chat.agent.model.name) chat.notice(`The model is already ${name}.`)
  else await chat.switchModel(name)
}

const MODE_HINTS: Readonly<Record<PermissionMode, string>> = {
  ask: "asks before it changes anything",
  "accept-edits": "edits files in the project without asking",
  plan: "reads and plans, changes nothing",
  bypass: "never asks; deny rules still apply",
}

export async function chooseMode(chat: CommandTarget, name: string): Promise<void> {
  const named = PERMISSION_MODES.find((mode) => mode === name)
  if (named) return chat.switchMode(named)
  if (name !== "") return chat.notice(`There is no mode "${name}". The modes are ${PERMISSION_MODES.join(", ")}.`)
  const options = PERMISSION_MODES.map((mode) => ({ label: mode, hint: MODE_HINTS[mode] }))
  const answer = await chat.ask({
    title: "Which permission mode?",
    options,
    selected: PERMISSION_MODES.indexOf(chat.agent.mode),
  })
  if (answer.type === "chosen") chat.switchMode(PERMISSION_MODES[answer.index]!)
}
