/** `strata move`: copies everything that one store keeps to another, shows how far it is, and says what was proven. */
import { type MoveOutcome, type MoveReport, moveContents } from "@strata/core/store"
import { readArguments } from "../arguments.ts"
import { type Run, UsageError } from "../command.ts"
import { counted, grouped } from "../display/numbers.ts"
import { progressOn } from "../display/progress.ts"
import { visible, visibleJson } from "../display/visible.ts"
import { bytes } from "../keep/page.ts"
import { MOVE } from "../store/descriptions.ts"
import { openAddress } from "../store/open-address.ts"
import { askFirst } from "./ask-first.ts"

const DONE = 0
const NOT_DONE = 1
const MOST_NAMED = 20

const OUTCOMES: Readonly<Record<MoveOutcome, string>> = {
  copied: "copied",
  continued: "continued",
  equal: "equal already",
  further: "went on there since, and were left alone",
}

export const run: Run = async ({ args, cwd, terminal }) => {
  const { values, operands } = readArguments(MOVE, args)
  const [fromAddress = "", toAddress = ""] = operands
  const from = await openAddress(fromAddress, { cwd, mustExist: true })
  const to = await openAddress(toAddress, { cwd, mustExist: false })
  if (from.identity === to.identity) throw new UsageError("FROM and TO are the same store. Nothing was moved.")
  const { project, owner, yes: isAgreed } = values
  const move = { from: from.store, to: to.store, project, owner }
  if (!(await askFirst({ ...move, isAgreed, terminal }))) return NOT_DONE
  const stop = new AbortController()
  const onSignal = () => stop.abort()
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, onSignal)
  const progress = progressOn(terminal)
  try {
    const report = await moveContents({
      ...{ ...move, signal: stop.signal },
      onProgress: ({ contents, written, at }) =>
        progress.show(`Moving: ${grouped(contents)} done, ${bytes(written)} written, now ${at}`),
    })
    progress.end()
    const isPart = project !== undefined || owner !== undefined
    const removal = isPart ? "The rest of it was not copied." : from.removal
    const shown = { from: from.store.description, to: to.store.description, removal }
    if (values.json) terminal.print(`${visibleJson({ from: shown.from, to: shown.to, ...report }, 2)}\n`)
    else terminal.print(`${pageOf(report, shown).map(visible).join("\n")}\n`)
    return report.refused.length === 0 ? DONE : NOT_DONE
  } catch (error) {
    progress.end()
    if (!stop.signal.aborted) throw error
    terminal.complain(
      "Stopped. What was copied is whole, and the source is unchanged. The same command goes on from here.\n",
    )
    return NOT_DONE
  } finally {
    progress.end()
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, onSignal)
  }
}

interface Shown {
  readonly from: string
  readonly to: string
  readonly removal: string
}

function pageOf(report: MoveReport, { from, to, removal }: Shown): readonly string[] {
  const { outcomes, written, proven, sha256, refused, open, leftOut } = report
  const names = Object.keys(OUTCOMES) as MoveOutcome[]
  const said = names
    .filter((name) => outcomes[name] > 0)
    .map((name) => `  ${grouped(outcomes[name])} ${OUTCOMES[name]}`)
  if (said.length + refused.length === 0) return [`There is nothing to move in ${from}.`]
  return [
    `From ${from} to ${to}:`,
    ...said,
    `${bytes(written)} written. ${bytes(proven)} read again on both sides and equal (SHA-256 ${sha256}).`,
    ...listed(
      refused,
      (count) => `${counted(count, "thing")} not moved, because something else is there, or someone has it open:`,
    ),
    ...listed(open, (count) => `${counted(count, "thing")} in use. Close them and move again for the rest:`),
    ...listed(leftOut, (count) => `${counted(count, "file")} that other stores cannot keep:`),
    refused.length + open.length === 0 ? `The source is unchanged. ${removal}` : "The source is unchanged. Keep it.",
  ]
}

function listed(all: readonly string[], title: (count: number) => string): readonly string[] {
  if (all.length === 0) return []
  const rest = all.length > MOST_NAMED ? [`  and ${grouped(all.length - MOST_NAMED)} more`] : []
  return [title(all.length), ...all.slice(0, MOST_NAMED).map((one) => `  ${one}`), ...rest]
}
