/**
 * The environment with the variables of the user's Claude Code settings, as far as they agreed. At a terminal they are asked once, before
 * anything starts: the connection may need a key among the variables. Variables of the process take precedence.
 */

import { type ProjectSettings, readSettings } from "@strata/core"
import type { ClaudeOffer } from "@strata/core/settings"
import { promptForChoice } from "../confirm.ts"
import { escapeInvisible } from "../display/escaped.ts"
import type { Terminal } from "../display/terminal.ts"
import { wrapText } from "../display/text.ts"
import type { Environment } from "../session-options.ts"
import { breakColumns, partLines } from "../trust/page.ts"

// The question about the user's settings for Claude Code. The answer is stored in their Strata settings.

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
      `Your answer could not be saved in your settings (${(error as NodeJS.ErrnoException).code ?? "failed"}). Nothing was started. Repair the file, or set STRATA_HOME to another directory.`,
      { cause: error },
    )
  })
  return "answered"
}

/** Lists what was found, what already applies, and what has no counterpart. */
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

/** The environment according to the user's stored answer. */
export async function userEnvironment({ cwd, env }: UserEnvironmentOptions): Promise<Environment> {
  const reading = await readSettings({ cwd, env })
  return { ...reading.settings({ trusted: false }).environment, ...env }
}

/** Asks first, if the user has not decided yet. */
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

/** A notice for starts without a terminal: what is undecided and how to decide. */
export function undecidedSentence(claude: Awaited<ReturnType<typeof readSettings>>["claude"]): readonly string[] {
  if (!claude || claude.decision !== undefined || claude.items.length === 0) return []
  return [
    'Of your settings for Claude Code, only rules that deny or ask count. For the rest, answer once in "strata chat", or with: strata config --claude use',
  ]
}
