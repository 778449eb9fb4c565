/** `strata agents tail`: prints what an agent does, from its journal, until it ends. */
import { stat } from "node:fs/promises"
import { setTimeout as pause } from "node:timers/promises"
import type { AgentView } from "@strata/core/internal"
import type { Terminal } from "../display/terminal.ts"
import { printable } from "../display/visible.ts"
import { interruptible } from "../run/interruption.ts"
import { entryLines } from "./activity.ts"
import { STATUS_WORDS } from "./page.ts"
import { type AgentsPlace, agentsIn, isInUse, withAgentJournal } from "./place.ts"

const LOOK_MS = 250 // between two looks at the journals
const DONE = 0
const INTERRUPTED = 130 // as shells say it for Ctrl-C

export async function tail(place: AgentsPlace, { id, journal }: AgentView, terminal: Terminal): Promise<number> {
  const interruption = interruptible()
  const { signal } = interruption
  let printed = 0
  let size = -1
  const printNew = async () => {
    const bytes = (await stat(journal).catch(() => undefined))?.size ?? size
    if (bytes === size) return
    size = bytes
    const lines = await withAgentJournal(place, id, async (opened) => {
      const found: string[] = []
      let count = 0
      for await (const entry of opened.entries()) if (++count > printed) found.push(...entryLines(entry))
      printed = count
      return found
    })
    if (lines.length > 0) terminal.print(`${lines.join("\n")}\n`)
  }
  try {
    for (;;) {
      const { root, project, conversation } = place
      const isOpen = await isInUse(root, { project, id: conversation.id })
      const now = (await agentsIn({ ...place, isOpen })).find((agent) => agent.id === id)!
      await printNew() // after its state was read, so that nothing written before its end is missed
      if (now.status !== "running") {
        const how = now.summary === undefined || now.status === "completed" ? "" : `: ${now.summary}`
        terminal.complain(`- ${id} ${STATUS_WORDS[now.status]}${printable(how)}\n`)
        return DONE
      }
      await pause(LOOK_MS, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return INTERRUPTED
    }
  } finally {
    interruption.stop()
  }
}
