/** `strata memory`: shows what is remembered across the conversations of a project and where it came from, and changes it. */

import { type FoundInProject, type ProjectBank, readEntries } from "@strata/core"
import { readArguments } from "../arguments.ts"
import { type CommandCall, type Run, UsageError } from "../command.ts"
import { findById, titleFrom } from "../conversation-names.ts"
import { MEMORY } from "../descriptions.ts"
import { shortenList } from "../display/long-list.ts"
import { describeAge } from "../display/numbers.ts"
import { withProgress } from "../display/progress.ts"
import { firstLine, indent } from "../display/text.ts"
import { escapeForTerminal, escapeToLine, jsonForTerminal } from "../display/visible.ts"
import { missingConversation } from "../stored-conversation.ts"
import { nearestTo } from "../suggestion.ts"
import { type AttachedMemories, attachedMemoryLines, findAttachedMemories } from "./attached-memories.ts"
import { changeOf, edit, erase, forget, revert, showChange } from "./changes.ts"
import { findMemory } from "./find-memory.ts"
import { historyPage, listPage, type MemoryRenderOptions, memoryPage, memoryRows, sortMemories } from "./page.ts"
import { openProjectBank } from "./project-memory.ts"
import { applyVerdict, review } from "./review.ts"

// `strata memory search`: memories first, then passages of past conversations. Works offline.

/** Number of characters shown before the match in a passage. */
const BEFORE_MATCH = 30

export function searchPage({ memories, passages }: FoundInProject, look: MemoryRenderOptions): readonly string[] {
  const { style, columns, now } = look
  if (memories.length + passages.length === 0) return ["Nothing in this project's memory or conversations fits."]
  const found = memories.map(({ memory }) => memory)
  const passageLines = passages.flatMap(({ conversation, speaker, time, text, at }) => [
    `  ${conversation.slice(0, 8)}  ${speaker === "user" ? "you" : "the agent"}, ${describeAge(time, now)}`,
    ...indent([style.dim(firstLine(escapeToLine(lineAt(text, at)), columns - 6))], 6),
  ])
  return [
    ...(found.length === 0 ? [] : [style.bold("Memories"), ...memoryRows(found, look)]),
    ...(found.length === 0 || passageLines.length === 0 ? [] : [""]),
    ...(passageLines.length === 0 ? [] : [style.bold("Past conversations"), ...passageLines]),
  ]
}

/** The line with the match, starting shortly before it. */
function lineAt(text: string, at: number): string {
  const start = text.lastIndexOf("\n", at - 1) + 1
  if (at - start <= BEFORE_MATCH) return text.slice(start)
  const space = text.indexOf(" ", at - BEFORE_MATCH)
  return `… ${text.slice(space < 0 || space > at ? at : space + 1)}`
}

const DONE = 0

/** Minimum and maximum number of arguments after each action, and their placeholder. */
const ACTIONS = {
  list: [0, 0, ""],
  show: [1, 1, "NAME"],
  edit: [1, 1, "NAME"],
  forget: [1, 1, "NAME"],
  confirm: [1, 1, "NAME"],
  review: [0, 0, ""],
  history: [0, 1, "[ID]"],
  revert: [1, 1, "ID"],
  search: [1, Number.POSITIVE_INFINITY, "WORDS…"],
  why: [0, 1, "[CONVERSATION]"],
} as const satisfies Record<string, readonly [min: number, max: number, value: string]>

type Action = keyof typeof ACTIONS

const WITHOUT_JSON: ReadonlySet<Action> = new Set(["edit", "forget", "confirm", "review", "revert"])
/** Actions in the user's name. They are refused while an agent's command runs, which could have started them. */
const USER_ACTIONS: ReadonlySet<Action> = new Set(["edit", "forget", "confirm", "review", "revert"])

export const run: Run = async ({ args, cwd, env, terminal, stdin }) => {
  const { values, operands } = readArguments(MEMORY, args)
  const { action, given } = parseAction(operands)
  if (values.erase && action !== "forget") throw new UsageError("--erase belongs to: strata memory forget")
  if (values.json && WITHOUT_JSON.has(action)) throw new UsageError(`strata memory ${action} has no --json.`)
  if (values.owner !== undefined && USER_ACTIONS.has(action))
    throw new UsageError(`--owner only shows memories. strata memory ${action} has no --owner.`)
  const bank = await openProjectBank({ cwd, env, owner: values.owner, readOnly: values.owner !== undefined })
  const { location } = bank
  for (const notice of bank.notices) terminal.complain(`${escapeForTerminal(notice)}\n`)
  const look = { style: terminal.style, columns: terminal.columns, now: new Date(), isShort: terminal.isScreen }
  const show = (value: unknown, page: () => readonly string[]) => {
    terminal.print(`${values.json ? jsonForTerminal(value, 2) : page().join("\n")}\n`)
    return DONE
  }
  if (USER_ACTIONS.has(action) && (await bank.isCommandRunning()))
    throw new UsageError(
      `An agent is running a command in this project, and it must not speak for you. Nothing was changed. Wait for its end, or use /memory in that chat.`,
    )
  for (const problem of await bank.problems()) terminal.complain(`${problem}\n`)
  switch (action) {
    case "list": {
      const memories = sortMemories(await bank.all())
      return show({ location, memories }, () => listPage({ memories, location, all: values.all }, look))
    }
    case "show": {
      const memory = findMemory(await bank.all(), given[0]!)
      const claims = await bank.claims(memory)
      return show({ ...memory, claims }, () => memoryPage({ memory, location, claims }, look))
    }
    case "history": {
      if (given[0] === undefined) {
        const changes = await bank.history()
        return show({ location, changes }, () => historyPage(changes, look))
      }
      const change = await changeOf(bank, given[0])
      const diff = await bank.diff(change.id)
      if (values.json) return show({ ...change, diff }, () => [])
      showChange(change, { diff, terminal })
      return DONE
    }
    case "search": {
      const search = () => bank.search(given.join(" "))
      const found = await withProgress(terminal, "Searching the memory and past conversations", search)
      return show(found, () => searchPage(found, look))
    }
    case "why": {
      const found = await withProgress(terminal, "Reading the conversation", () =>
        findAttachments({ bank, cwd, env, owner: values.owner, id: given[0] }),
      )
      return show(found, () => attachmentsPage(found, look))
    }
    case "edit":
      return edit(given[0]!, { bank, terminal, env })
    case "forget":
      if (values.erase) return erase(given[0]!, { bank, terminal, isSure: values.yes })
      return forget(given[0]!, { bank, terminal })
    case "confirm": {
      const memory = findMemory(await bank.all(), given[0]!)
      terminal.print(`${await applyVerdict(bank, memory, "confirm")}\n`)
      return DONE
    }
    case "review":
      return review({ bank, terminal, stdin })
    case "revert":
      return revert(given[0]!, { bank, terminal, isSure: values.yes })
  }
}

function parseAction([name = "list", ...given]: readonly string[]): { action: Action; given: readonly string[] } {
  const names = Object.keys(ACTIONS) as Action[]
  const action = names.find((one) => one === name)
  if (action === undefined) {
    const near = nearestTo(name, names)
    const hint = near === undefined ? `The actions are ${names.join(", ")}.` : `Did you mean "strata memory ${near}"?`
    throw new UsageError(`strata memory has no action ${name}. ${hint}`)
  }
  const [min, max, value] = ACTIONS[action]
  if (given.length >= min && given.length <= max) return { action, given }
  const usage = `strata memory ${action}${value === "" ? "" : ` ${value}`}`
  throw new UsageError(`Use it like this: ${usage}. "strata memory --help" shows more.`)
}

/** `strata memory why`: lists the memories attached in a past conversation, and the reasons. */
interface AttachmentReport extends AttachedMemories {
  readonly conversation: string
  readonly title?: string
}

interface AttachmentQuery extends Pick<CommandCall, "cwd" | "env"> {
  readonly owner: string | undefined
  readonly bank: ProjectBank
  /** Prefix of a conversation's id. Default: the newest. */
  readonly id: string | undefined
}

async function findAttachments({ bank, id, ...place }: AttachmentQuery): Promise<AttachmentReport> {
  const all = await bank.conversations()
  const found = id === undefined ? all[0] : findById(id, all)
  if (!found) throw await missingConversation({ ...place, id, isEmpty: all.length === 0 })
  const title = found.title && titleFrom(found.title)
  return {
    conversation: found.id,
    ...(title ? { title } : {}),
    ...(await findAttachedMemories(readEntries(found, { env: place.env }))),
  }
}

export function attachmentsPage(
  { conversation, title, ...offered }: AttachmentReport,
  { style, columns, isShort }: MemoryRenderOptions,
): readonly string[] {
  const heading = `Conversation ${conversation.slice(0, 8)}${title === undefined ? "" : `: ${title}`}`
  const lines = attachedMemoryLines(offered, Math.min(columns, 110))
  const { shown, rest } = shortenList(lines, { isShort, seeAll: "strata memory why | less" })
  return [style.bold(escapeToLine(heading)), ...shown, ...rest.map(style.dim)]
}
