/**
 * The environment with the variables of the person's settings for Claude Code, as far as they said yes. At a terminal they are asked once,
 * before anything starts: a key among the variables may be what the connection needs. The process's own variables win.
 */

import { type ProjectSettings, readSettings } from "@strata/core"
import type { ClaudeOffer } from "@strata/core/settings"
import { promptForChoice } from "../confirm.ts"
import { escapeInvisible } from "../display/escaped.ts"
import type { Terminal } from "../display/terminal.ts"
import { wrapText } from "../display/text.ts"
import type { Environment } from "../session-options.ts"
import { breakColumns, partLines } from "../trust/page.ts"

// The one question about the settings that the person has for Claude Code. Their answer is kept in their own settings file.

const CHOICES = `
  use      use all of it, now and from now on
  ignore   use only the rules that deny or ask
  quit     leave

use, ignore or quit? `

const STYLE_LINES = 6 // an output style can fill several screens

export interface ClaudeQuestion {
  readonly reading: ProjectSettings
  readonly offer: ClaudeOffer
  readonly terminal: Terminal
}

export async function askAboutClaude({ reading, offer, terminal }: ClaudeQuestion): Promise<"answered" | "quit"> {
  terminal.print(`${offerLines(offer, terminal).join("\n")}\n`)
  const answer = await promptForChoice(CHOICES, ["use", "ignore", "quit"])
  if (answer === undefined || answer === "quit") {
    terminal.print("Nothing was started.\n")
    return "quit"
  }
  await reading.decideClaude(answer).catch((error: unknown) => {
    throw new Error(
      `Your answer could not be kept in your settings (${(error as NodeJS.ErrnoException).code ?? "failed"}). Nothing was started. Mend the file, or set STRATA_HOME to another directory.`,
      { cause: error },
    )
  })
  return "answered"
}

/** What was found, what counts already, and what has no counterpart. */
function offerLines(offer: ClaudeOffer, terminal: Terminal): readonly string[] {
  const { style } = terminal
  const columns = breakColumns(terminal)
  const rules = offer.restricting.length
  const always = rules === 0 ? [] : [`${rules} rules that deny or ask count in any case.`]
  return [
    style.bold("You have settings for Claude Code. Should Strata use them too?"),
    escapeInvisible(offer.directory),
    "",
    ...partLines(offer.items, { style, values: false, columns, agentLines: STYLE_LINES }),
    "",
    ...[...always, ...(offer.unused === undefined ? [] : [offer.unused])].flatMap((line) => wrapText(line, columns)),
  ]
}

export interface UserEnvironmentOptions {
  readonly cwd: string
  readonly env: Environment
}

/** What they said before counts. */
export async function userEnvironment({ cwd, env }: UserEnvironmentOptions): Promise<Environment> {
  const reading = await readSettings({ cwd, env })
  return { ...reading.settings({ trusted: false }).environment, ...env }
}

/** Asks where they were not asked yet and there is something to decide. */
export async function askedEnvironment(
  place: UserEnvironmentOptions,
  terminal: Terminal,
): Promise<Environment | "quit"> {
  const reading = await readSettings(place)
  const { claude: offer } = reading
  if (offer && offer.decision === undefined && offer.items.length > 0) {
    const answer = await askAboutClaude({ reading, offer, terminal })
    if (answer === "quit") return "quit"
  }
  return userEnvironment(place)
}

/** For a start without a person to ask: what waits for their answer. */
export function undecidedSentence(claude: Awaited<ReturnType<typeof readSettings>>["claude"]): readonly string[] {
  if (!claude || claude.decision !== undefined || claude.items.length === 0) return []
  return [
    'Of your settings for Claude Code, only rules that deny or ask count. For the rest, answer once in "strata chat", or with: strata config --claude use',
  ]
}
