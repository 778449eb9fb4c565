/** What a pause costs: the server has forgotten the conversation, and the next request writes all of it again. */
import { createReadStream, createWriteStream } from "node:fs"
import { createInterface } from "node:readline/promises"
import type { PauseNotice } from "@strata/adapters/proxy"
import { dollars } from "../display/numbers.ts"
import type { Terminal } from "../display/terminal.ts"

const WORTH_A_WORD = 0.05 // dollars

export interface Pauses {
  /** Says what the request costs, or asks. */
  readonly onPause: (notice: PauseNotice) => Promise<boolean>
  /** For the report. */
  lines(): readonly string[]
}

interface PauseOptions {
  readonly terminal: Pick<Terminal, "complain">
  /** Asks the person, where the command leaves the terminal to us. */
  readonly ask?: ((question: string) => Promise<boolean>) | undefined
  /** The command draws on the terminal: a line of ours would be in its way. */
  readonly isQuiet: boolean
}

export function pauses({ terminal, ask, isQuiet }: PauseOptions): Pauses {
  const noticed: PauseNotice[] = []
  return {
    async onPause(notice) {
      noticed.push(notice)
      const { minutes, cost, direct } = notice
      if (cost < WORTH_A_WORD) return true
      const saved = direct > cost * 1.1 ? ` Without Strata: about ${dollars(direct)}.` : ""
      const line = `After ${Math.round(minutes)} minutes the server's cache is gone. This request costs about ${dollars(cost)}.${saved}`
      if (ask) return ask(`${line} Send it?`)
      if (!isQuiet) terminal.complain(`${line}\n`)
      return true
    },
    lines() {
      if (noticed.length === 0) return []
      const [cost, direct] = [sum(noticed.map((each) => each.cost)), sum(noticed.map((each) => each.direct))]
      const times = noticed.length === 1 ? "One pause" : `${noticed.length} pauses`
      return [`${times} cost the server's cache: about ${dollars(cost)}, without Strata about ${dollars(direct)}.`]
    },
  }
}

/** Asks on the terminal itself: standard input is the command's. No answer is a yes. */
export async function asked(question: string): Promise<boolean> {
  const [input, output] = [createReadStream("/dev/tty"), createWriteStream("/dev/tty")]
  const lines = createInterface({ input, output })
  try {
    return !/^n/i.test(await lines.question(`${question} [Y/n] `))
  } catch {
    return true
  } finally {
    lines.close()
    input.destroy()
    output.destroy()
  }
}

const sum = (parts: readonly number[]): number => parts.reduce((all, part) => all + part, 0)
