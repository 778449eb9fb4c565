/** What the agent is doing right now, and how to stop it. */
import { Box, useAnimation } from "ink"
import type { ReactNode } from "react"
import { clockTime } from "../../display/numbers.ts"
import type { Work } from "../state.ts"
import { h } from "./element.ts"
import { Text } from "./text.ts"
import { useTheme } from "./theme.ts"

const FRAMES = ["|", "/", "-", "\\"]
const FRAME_MS = 250

export function WorkLine({ work }: { readonly work: Work }): ReactNode {
  const theme = useTheme()
  const { frame } = useAnimation({ interval: FRAME_MS, isActive: work.type !== "idle" })
  if (work.type === "idle") return null
  const colour = work.type === "retrying" ? theme.warning : theme.accent
  return h(
    Box,
    { marginTop: 1, gap: 1 },
    h(Box, { flexShrink: 0 }, h(Text, colour, FRAMES[frame % FRAMES.length])),
    h(Text, { ...colour, wrap: "truncate-end" }, wordsFor(work, Date.now())),
  )
}

export function wordsFor(work: Exclude<Work, { type: "idle" }>, now: number): string {
  switch (work.type) {
    case "opening":
      return "Opening the conversation…"
    case "interrupting":
      return "Interrupting…"
    case "working":
      return `Working, ${clockTime(now - work.since)} (Esc interrupts)`
    case "compacting":
      return `Compacting: ${work.step}, ${clockTime(now - work.since)} (Esc cancels)`
    case "retrying": {
      const left = Math.max(0, Math.ceil((work.until - now) / 1_000))
      const when = left === 0 ? "now" : `in ${left} s`
      return `Attempt ${work.attempt} failed, retrying ${when} (Esc interrupts): ${work.reason}`
    }
  }
}
