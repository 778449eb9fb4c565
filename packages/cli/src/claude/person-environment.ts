/**
 * The environment with the variables of the person's settings for Claude Code, as far as they said yes. At a terminal they are asked once,
 * before anything starts: a key among the variables may be what the connection needs. The process's own variables win.
 */
import { readSettings } from "@strata/core"
import type { Terminal } from "../display/terminal.ts"
import type { Environment } from "../session-options.ts"
import { askAboutClaude } from "./question.ts"

export interface PersonPlace {
  readonly cwd: string
  readonly env: Environment
}

/** What they said before counts. */
export async function personEnvironment({ cwd, env }: PersonPlace): Promise<Environment> {
  const reading = await readSettings({ cwd, env })
  return { ...reading.settings({ trusted: false }).environment, ...env }
}

/** Asks where they were not asked yet and there is something to decide. */
export async function askedEnvironment(place: PersonPlace, terminal: Terminal): Promise<Environment | "quit"> {
  const reading = await readSettings(place)
  const { claude: offer } = reading
  if (offer && offer.decision === undefined && offer.parts.length > 0) {
    const answer = await askAboutClaude({ reading, offer, terminal })
    if (answer === "quit") return "quit"
  }
  return personEnvironment(place)
}

/** For a start without a person to ask: what waits for their answer. */
export function undecidedSentence(claude: Awaited<ReturnType<typeof readSettings>>["claude"]): readonly string[] {
  if (!claude || claude.decision !== undefined || claude.parts.length === 0) return []
  return [
    'Of your settings for Claude Code, only rules that deny or ask count. For the rest, answer once in "strata chat", or with: strata config --claude use',
  ]
}
