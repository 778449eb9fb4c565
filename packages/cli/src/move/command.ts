/** `strata move`: copies all data of one store to another, shows the progress, and reports what was verified. */

import type { Store } from "@strata/core"
import {
  type ContentCriteria,
  isCommandRunning,
  type MoveOutcome,
  type MoveReport,
  moveContents,
  selectContents,
  WRITE_ANNOUNCEMENTS,
} from "@strata/core/store"
import { formatBytes } from "../archive/page.ts"
import { readArguments } from "../arguments.ts"
import { type CommandCall, type Run, UsageError } from "../command.ts"
import { promptForChoice } from "../confirm.ts"
import { formatNumber, pluralize } from "../display/numbers.ts"
import { progressOn } from "../display/progress.ts"
import { escapeForTerminal, escapeToLine, jsonForTerminal } from "../display/visible.ts"
import { MOVE } from "../store/descriptions.ts"
import { openAddress } from "../store/open-address.ts"

// Before data moves from a private store to a shared one, the user sees what others will be able to read and must agree. Nothing is written before. A command run by an agent cannot agree.
// An agent's command cannot say it.

interface SharingConsent extends ContentCriteria, Pick<CommandCall, "terminal"> {
  readonly from: Store
  readonly to: Store
  /** True if the user agreed with an option of the command. */
  readonly isAgreed: boolean
}

/** Whether the user agrees to the move. */
export async function askConsent({ from, to, isAgreed, terminal, ...choice }: SharingConsent): Promise<boolean> {
  if (!to.isShared || from.isShared) return true
  const { conversations, memories, isAgentAtWork } = await listShared(from, choice)
  if (conversations + memories === 0) return true
  if (isAgentAtWork)
    throw new UsageError(
      "An agent is running a command in one of your projects, and it must not send your memories away. Nothing was moved. Wait for its end.",
    )
  if (isAgreed) return true
  const what = `${pluralize(conversations, "conversation")} and ${pluralize(memories, "memory file")}`
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true)
    throw new UsageError(
      `This would share ${what} with everyone who uses ${escapeToLine(to.description)}, and there is no terminal to ask you. Nothing was moved. If you want that, add --yes.`,
    )
  terminal.print(
    `${what} would go to ${escapeToLine(to.description)}.\nEveryone who uses that tenant, and their agents, will be able to read them.\n`,
  )
  if ((await promptForChoice("Share them? yes or no: ", ["yes", "no"])) === "yes") return true
  terminal.print("Nothing was moved.\n")
  return false
}

async function listShared(store: Store, choice: ContentCriteria) {
  const { all, isSelected } = await selectContents(store, choice)
  const found = { conversations: 0, memories: 0, isAgentAtWork: false }
  for (const { address, files } of all) {
    // in any project, because a command can name another one
    if (address.kind === "memories" && files.some(({ name }) => name.startsWith(`${WRITE_ANNOUNCEMENTS}/`)))
      found.isAgentAtWork ||= await isCommandRunning(store.memories(address.namespace))
    if (!isSelected(address)) continue
    if (address.kind === "journal" && address.under === undefined) found.conversations++
    if (address.kind === "memories") found.memories += files.length
  }
  return found
}

const DONE = 0
const NOT_DONE = 1
const MAX_NAMED = 20

const OUTCOME_LABELS: Readonly<Record<MoveOutcome, string>> = {
  copied: "copied",
  continued: "continued",
  equal: "equal already",
  further: "have changed there since, and were not overwritten",
}

export const run: Run = async ({ args, cwd, terminal }) => {
  const { values, operands } = readArguments(MOVE, args)
  const [fromAddress = "", toAddress = ""] = operands
  const from = await openAddress(fromAddress, { cwd, mustExist: true })
  const to = await openAddress(toAddress, { cwd, mustExist: false })
  if (from.identity === to.identity) throw new UsageError("FROM and TO are the same store. Nothing was moved.")
  const { project, owner, yes: isAgreed } = values
  const move = { from: from.store, to: to.store, project, owner }
  if (!(await askConsent({ ...move, isAgreed, terminal }))) return NOT_DONE
  const stop = new AbortController()
  const onSignal = () => stop.abort()
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, onSignal)
  const progress = progressOn(terminal)
  try {
    const report = await moveContents({
      ...{ ...move, signal: stop.signal },
      onProgress: ({ contents, written, at }) =>
        progress.show(`Moving: ${formatNumber(contents)} done, ${formatBytes(written)} written, now ${at}`),
    })
    progress.end()
    const isPart = project !== undefined || owner !== undefined
    const removal = isPart ? "The rest of it was not copied." : from.removal
    const shown = { from: from.store.description, to: to.store.description, removal }
    if (values.json) terminal.print(`${jsonForTerminal({ from: shown.from, to: shown.to, ...report }, 2)}\n`)
    else terminal.print(`${movePage(report, shown).map(escapeForTerminal).join("\n")}\n`)
    return report.refused.length === 0 ? DONE : NOT_DONE
  } catch (error) {
    progress.end()
    if (!stop.signal.aborted) throw error
    terminal.complain(
      "Stopped. The copied data is complete, and the source is unchanged. The same command continues from here.\n",
    )
    return NOT_DONE
  } finally {
    progress.end()
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, onSignal)
  }
}

interface MovePageInput {
  readonly from: string
  readonly to: string
  readonly removal: string
}

function movePage(report: MoveReport, { from, to, removal }: MovePageInput): readonly string[] {
  const { outcomes, written, verifiedBytes, sha256, refused, open, omitted } = report
  const names = Object.keys(OUTCOME_LABELS) as MoveOutcome[]
  const lines = names
    .filter((name) => outcomes[name] > 0)
    .map((name) => `  ${formatNumber(outcomes[name])} ${OUTCOME_LABELS[name]}`)
  if (lines.length + refused.length === 0) return [`There is nothing to move in ${from}.`]
  return [
    `From ${from} to ${to}:`,
    ...lines,
    `${formatBytes(written)} written. ${formatBytes(verifiedBytes)} read again on both sides and equal (SHA-256 ${sha256}).`,
    ...formatItems(
      refused,
      (count) => `${pluralize(count, "thing")} not moved, because something else is there, or someone has it open:`,
    ),
    ...formatItems(open, (count) => `${pluralize(count, "thing")} in use. Close them and move again for the rest:`),
    ...formatItems(omitted, (count) => `${pluralize(count, "file")} that other stores cannot keep:`),
    refused.length + open.length === 0 ? `The source is unchanged. ${removal}` : "The source is unchanged. Keep it.",
  ]
}

function formatItems(all: readonly string[], title: (count: number) => string): readonly string[] {
  if (all.length === 0) return []
  const rest = all.length > MAX_NAMED ? [`  and ${formatNumber(all.length - MAX_NAMED)} more`] : []
  return [title(all.length), ...all.slice(0, MAX_NAMED).map((one) => `  ${one}`), ...rest]
}
