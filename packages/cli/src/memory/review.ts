/** `strata memory review` and `/memory review`: goes through the agent's unconfirmed notes. One key confirms or drops each. */

import type { Memory, MemoryBank } from "@strata/core"
import { isCurrentMemory, isUserMemory } from "@strata/core/memory"
import { describeSource, fileStem } from "@strata/page"
import { type CommandCall, UsageError } from "../command.ts"
import type { Terminal } from "../display/terminal.ts"
import { indent, wrapText } from "../display/text.ts"
import { escapeForTerminal, escapeToLine } from "../display/visible.ts"
import { sortMemories } from "./page.ts"

export type ReviewVerdict = "confirm" | "drop" | "later"

/** Unconfirmed memories, rules first, because they do not apply until confirmed. */
export const unconfirmedIn = (memories: readonly Memory[]): readonly Memory[] =>
  sortMemories(memories.filter((memory) => isCurrentMemory(memory) && !isUserMemory(memory)))

/** Applies a verdict and describes the result. */
export async function applyVerdict(bank: MemoryBank, { file }: Memory, verdict: ReviewVerdict): Promise<string> {
  const name = escapeToLine(fileStem(file))
  if (verdict === "later") return `${name} stays unchanged: noted by the agent, not confirmed.`
  if (verdict === "confirm") {
    const change = await bank.confirm(file)
    return change ? `${name} is confirmed. ${undoHint(change.id)}` : `${name} is confirmed already.`
  }
  const change = await bank.change({ by: "person", why: "Dropped in a review", removals: [file] })
  return change ? `${name} was dropped. The archive still has it. ${undoHint(change.id)}` : `${name} no longer exists.`
}

const undoHint = (id: string) => `Revert it with: strata memory revert ${id}`

function reviewLines(memory: Memory, columns: number): readonly string[] {
  return [
    `${escapeToLine(memory.name)} (${memory.type}, ${escapeToLine(describeSource(memory))})`,
    ...indent(wrapText(escapeForTerminal(memory.body), columns - 2), 2),
  ]
}

interface ReviewOptions {
  readonly bank: MemoryBank
  readonly terminal: Terminal
  readonly stdin: CommandCall["stdin"]
}

const KEYS: Readonly<Record<string, ReviewVerdict | "quit">> = {
  y: "confirm",
  d: "drop",
  s: "later",
  q: "quit",
  "\u0003": "quit",
}

export async function review({ bank, terminal, stdin }: ReviewOptions): Promise<number> {
  const all = await bank.all()
  const memories = unconfirmedIn(all)
  if (memories.length === 0) {
    const yours = "Every memory here is yours: you stated it, wrote it or confirmed it."
    terminal.print(`${all.length === 0 ? "Nothing is remembered here yet." : yours}\n`)
    return 0
  }
  if (!stdin?.isTTY || !terminal.isScreen)
    throw new UsageError(
      "strata memory review asks at a terminal. In scripts: strata memory confirm NAME, or strata memory forget NAME",
    )
  for (const [at, memory] of memories.entries()) {
    terminal.print(`\n${reviewLines(memory, terminal.columns).join("\n")}\n`)
    terminal.print(`${at + 1} of ${memories.length}: y confirms, d drops, s skips, q ends `)
    const verdict = await keyFrom(stdin)
    terminal.print("\n")
    if (verdict === "quit") break
    terminal.print(`${await applyVerdict(bank, memory, verdict)}\n`)
  }
  return 0
}

/** Waits for one of the keys above and ignores others. The end of the input ends the review. */
function keyFrom(stdin: NonNullable<CommandCall["stdin"]>): Promise<ReviewVerdict | "quit"> {
  const { promise, resolve } = Promise.withResolvers<ReviewVerdict | "quit">()
  const onData = (piece: Buffer | string) => {
    const verdict = KEYS[String(piece).slice(0, 1).toLowerCase()]
    if (verdict !== undefined) resolve(verdict)
  }
  const onEnd = () => resolve("quit")
  stdin.setRawMode?.(true)
  stdin.on("data", onData).once("end", onEnd).resume()
  return promise.finally(() => {
    stdin.off("data", onData).off("end", onEnd).pause()
    stdin.setRawMode?.(false)
  })
}
